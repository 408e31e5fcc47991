### Was die Personen, die eine Studie durchführen, im Browser lesen: Anmeldung, laufende Übersicht, eine Person, Vorschau.

## Jede Seite

sign-out = Abmelden
back-to-study = Zurück zur Studie

## Anmelden

sign-in = Anmelden
sign-in-text = Diese Seite ist für diejenigen, die die Studie durchführen.
account-name = Name
password = Passwort
one-time-code = Code
one-time-code-text = Ihres zweiten Faktors, falls Sie einen haben; nach vielen falschen Codes zwei hintereinander, diesen und den nächsten
sign-in-accounts = Konten werden auf dem Server mit { $command } angelegt.
to-participants = Um an der Studie teilzunehmen, gehen Sie zu ihrer { $first_page }.
first-page-link = ersten Seite
wrong-sign-in = Der Name, das Passwort oder der Code ist falsch.

## Was abgelehnt wird

role-too-small = Ihre Rolle erlaubt das nicht
role-too-small-text =
    In dieser Studie haben Sie die Rolle { $role ->
        [owner] owner (verantwortlich)
        [helper] helper (Mithilfe)
       *[reader] reader (nur lesen)
    }, daher wurde nichts geändert. Wer für die Studie verantwortlich ist, kann Ihnen mit verax study account --role eine andere Rolle geben.
not-from-here = Das wurde nicht von dieser Seite gesendet
not-from-here-text = Es wurde nichts geändert. Bitte gehen Sie zur Studie zurück und versuchen Sie es dort noch einmal.
no-format = Dieses Format gibt es nicht
no-format-text = Wählen Sie eines von diesen: { $formats }.
export-busy = Ein Export wird gerade erstellt
export-busy-text = Bitte versuchen Sie es noch einmal, wenn er fertig ist.
export-failed = Der Export konnte nicht erstellt werden
disk-full = Die Festplatte des Servers meldet: { $reason }. Schaffen Sie dort Platz und versuchen Sie es noch einmal.

## Die laufende Übersicht: Schaltflächen

participants-first-page = Die erste Seite der Teilnehmenden
outdated = Der Server antwortet nicht: Was unten steht, ist nicht auf dem neuesten Stand.
open-the-study = Studie öffnen
pause = Unterbrechen
close = Schließen …
export-format = Format des Exports
export = Exportieren
reload = Neu laden
close-heading = Die Studie schließen?
close-text = Niemand kann dann neu beginnen. Wer gerade teilnimmt, kann zu Ende machen, und alle Antworten bleiben erhalten. Sie können die Studie wieder öffnen.
close-the-study = Studie schließen
leave-open = So lassen, wie es ist
share-heading = Ein Link zum Weitergeben
share-text = wer ihn hat, sieht diese Seite und kann nichts ändern
share-another = Anderen Link erstellen; dieser gilt dann nicht mehr

## Die laufende Übersicht: was sie zeigt

state =
    { $state ->
        [open] Offen
        [paused] Unterbrochen
       *[closed] Geschlossen
    }
as-of = Stand: { $time }
to-decide = Zu entscheiden
tally-came = Gekommen
tally-inside = Nehmen teil
tally-left = Gegangen
tally-finished = Fertig
tally-out = Ausgeschlossen
of-places = von { $places }
tally-others =
    { $people } { $status ->
        [invited] noch ohne Einwilligung
        [declined] nicht eingewilligt
        [full] ohne freien Platz
        [screened-out] Test nicht bestanden
        [over-quota] Quote voll
       *[withdrawn] zurückgezogen
    }
pace-heading = Wer fertig wurde, im Lauf der Zeit
forecast =
    Im Tempo der letzten { $hours ->
        [hour] Stunde, in der
       *[other] { $hours } Stunden, in denen
    } { $finished } fertig wurden, ist der letzte Platz ungefähr { $at } besetzt
forecast-interval = (95-%-Intervall: { $earliest } bis { $latest })
design = Der Versuchsplan
key-finished = fertig
key-inside = nimmt teil
key-free = frei
parts-heading = Zeit und Abbrüche je Teil
column-part = Teil
column-through = Abgeschlossen
column-median = Median
column-middle = Mittlere Hälfte
column-lost = Hier gegangen
from-to = { $low } bis { $high }
nobody-through = Noch hat niemand einen Teil abgeschlossen.
extremes = Von denen, die zuletzt fertig wurden, war { $fastest } am schnellsten ({ $fastest_time }) und { $slowest } am langsamsten ({ $slowest_time }).
rules-heading = Ausschlüsse nach Regeln
column-rule = Regel
column-limit = Grenze
column-people = Personen
rules-note = Eine Regel löscht niemanden. Regeln werden jede Minute angewendet.
no-rules = Die Studie hat keine festgelegt.
who-is-where = Wer wo ist
last-of = die letzten { $shown } von { $came }
nobody-yet = Noch ist niemand gekommen.
bots = Bots
bots-text = getrennt von Menschen: Sie nehmen niemandem den Platz
what-was-done = Was getan wurde
column-when = Wann
column-who = Wer
column-what = Was
nothing-yet = Noch nichts.
the-study = Die Studie
frozen =
    { $at ->
        [none] Nicht eingefroren
       *[other] Eingefroren { $at }
    }, Hash { $hash }
column-row = Zeile
column-participant = Person
column-status = Status
column-where = Wo
column-time = Zeit
column-seen = Gesehen
column-rules = Regeln
row = Zeile { $row }

status-invited = Noch keine Einwilligung
status-declined = Nicht eingewilligt
status-full = Kein freier Platz
status-active = Nimmt teil
status-left = Gegangen
status-complete = Fertig
status-screened-out = Test nicht bestanden
status-over-quota = Quote war voll
status-withdrawn = Zurückgezogen

where =
    { $part }, Seite { $page }{ $steps ->
        [none] { "" }
       *[other] { " " }von { $steps }
    }
part-instructions = { $part } (Anweisungen)

seconds-short = { $time } s
minutes-short = { $time } min
hours-short = { $time } h
just-now = gerade eben
minutes-ago = vor { $time } min
hours-ago = vor { $time } h
days-ago =
    { $days ->
        [one] vor 1 Tag
       *[other] vor { $days } Tagen
    }

did-open = hat die Studie geöffnet
did-paused = hat die Studie unterbrochen
did-closed = hat die Studie geschlossen
did-export = hat die Antworten exportiert
did-withdrawal = hat eine Teilnahme beendet
did-exclusion = hat jemanden ausgeschlossen
did-inclusion = hat einen Ausschluss zurückgenommen
did-unblinding = hat die Bedingungen angesehen, bevor die Studie geschlossen war
did-new-share-link = hat einen neuen Link zum Weitergeben erstellt
did-purge = hat Antworten gelöscht, deren Zeit vorbei war
did-sign-in-failed = konnte sich nicht anmelden
did-alert = hat eine Benachrichtigung gesendet
did-alert-not-sent = konnte eine Benachrichtigung nicht senden

waiting =
    { $people ->
        [one] 1 Person wartet
       *[other] { $people } Personen warten
    } auf einen Platz: Alle sind vergeben oder reserviert.
crowded =
    { $places ->
        [one] 1 Platz wird
       *[other] { $places } Plätze werden
    } von einer Adresse aus belegt, von der noch niemand eine Antwort gegeben hat, und mehr werden dort nicht vergeben: Vielleicht ist es eine Schulklasse, vielleicht eine einzelne Person, die alle Plätze belegt. Signierte Links (recruiting.signed) oder Codes verhindern das.
decide-paused =
    Die Studie ist unterbrochen: Niemand kann beginnen, und { $inside ->
        [0] niemand nimmt gerade teil.
        [one] die 1 Person, die gerade teilnimmt, wird gebeten, später wiederzukommen.
       *[other] die { $inside } Personen, die gerade teilnehmen, werden gebeten, später wiederzukommen.
    }
decide-full = Alle Plätze des Versuchsplans sind besetzt: Die Studie kann geschlossen werden.
decide-freeze = Der Plan hat noch kein Datum: Führen Sie verax study freeze aus, bevor die erste Person kommt.
decide-unkept = { $pages } abgelehnte Seiten wurden gezählt, aber nicht gespeichert, da schon zu viele davon gespeichert sind: Vielleicht versucht jemand, die Festplatte zu füllen.
decide-due =
    Die Antworten von { $people ->
        [one] 1 Person
       *[other] { $people } Personen
    } sollten { $days ->
        [one] 1 Tag
       *[other] { $days } Tage
    } aufbewahrt werden. Diese Zeit ist vorbei: Führen Sie verax study purge aus.

## Eine Person

a-bot = ein Bot
status = Status
by-hand = von Hand ausgeschlossen
row-of-design = Zeile des Versuchsplans
none = keine
no = nein
suspected-retake = Vermutlich zum zweiten Mal
retake-text = { $name } hat vorher im selben Browser teilgenommen
came = Gekommen
agreed = Eingewilligt
finished = Fertig
pages = Seiten
pages-of = { $pages } von { $steps }
exclusions = Ausschlüsse
column-why = Warum
column-since = Seit
column-until = Bis
in-force = gilt
take-back = Ausschluss zurücknehmen
reason = Grund
exclude = Ausschließen
really-delete = Alles, was diese Person gegeben hat, endgültig löschen?
delete-it = Löschen
keep-it = Behalten
withdraw = Teilnahme beenden …
excluded-stay = Wer ausgeschlossen ist, bleibt mit dem Grund in den Daten und im Export; Auswertungen lassen diese Personen weg und zählen sie.
pages-and-answers = Seiten und Antworten
blind = Bis die Studie geschlossen ist, sehen Sie nicht, wer in welcher Bedingung ist, damit keine Entscheidung über eine Person davon abhängen kann. Auch Bewertungen und Fragen, die nur in manchen Bedingungen gestellt werden, sind verborgen.
unblind = Bedingungen jetzt zeigen, und das festhalten
column-page = Seite
column-item = Aufgabe
column-condition = Bedingung
column-answers = Antworten
late = (verspätet)
none-yet = Noch keine Antworten.
has-left = { $name } ist nicht mehr dabei
has-left-text =
    { $pages ->
        [one] 1 beantwortete Seite wurde
       *[other] { $pages } beantwortete Seiten wurden
    } endgültig gelöscht. Löschen Sie auch Sicherungen und Exporte.

## Die Vorschau

preview-nothing-recorded = Vorschau: Nichts wird aufgezeichnet.
preview-another-row = Andere Zeile des Versuchsplans wählen
preview-fill-in = ausfüllen und weiter
preview-phone-and-desk = Telefon und Computer
preview-choose = Wählen Sie, was Teilnehmende bekommen würden. Jede Zeile des Versuchsplans lässt sich wie von Teilnehmenden durchgehen, von der ersten Seite bis zum Abschlusscode; Zeitlimits gelten wirklich.
preview-row = Zeile { $row }
preview-all-pages = alle ihre Seiten
preview-row-of = Zeile { $row } von „{ $study }“
preview-row-gives = Diese Zeile gibt ihren Teilnehmenden { $cells }.
preview-choose-page = Wählen Sie eine Seite: Was davor kommt, wird für Sie ausgefüllt.
preview-other-rows = Andere Zeilen
preview-item = Aufgabe { $item }
preview-page = Seite { $page }
preview-widths = Dieselbe Seite, 390 und 1.100 Pixel breit.
preview-pages = alle Seiten
preview-alone = diese Seite allein
preview-phone = Auf einem Telefon
preview-desk = An einem Computer
