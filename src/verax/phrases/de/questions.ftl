### Eigene Fragen, und fertige Skalen, sinngemäß nach denen, die sie veröffentlicht haben. $about ist, worum es geht, im
### Nominativ oder Akkusativ: "das Modell"; $subject ist dasselbe am Anfang eines Satzes: "Das Modell".

the-model = das Modell
may-leave-out = Sie können diese Frage auslassen.
from-to = Von „{ $low }“ bis „{ $high }“
instructed-line = Um zu zeigen, dass Sie jede Zeile lesen, wählen Sie hier bitte „{ $answer }“.

## Vertrauen in Automation (Jian, Bisantz und Drury 2000), und die Kurzform (McGrath und andere 2025)

trust-short-heading = Welchen Eindruck macht { $about } auf Sie?
trust-short-ends =
    überhaupt nicht
    äußerst
trust-short-items =
    Ich bin zuversichtlich, was { $about } angeht.
    { $subject } ist zuverlässig.
    { $subject } verdient mein Vertrauen.
trust-heading = Welchen Eindruck macht { $about } auf Sie?
trust-ends =
    überhaupt nicht
    äußerst
trust-items =
    { $subject } ist irreführend.
    { $subject } geht hinterhältig vor.
    Was { $about } beabsichtigt, tut oder ausgibt, macht mich misstrauisch.
    { $subject } macht mich vorsichtig.
    Was { $about } tut, wird schädliche oder nachteilige Folgen haben.
    Ich bin zuversichtlich, was { $about } angeht.
    { $subject } bietet Sicherheit.
    { $subject } hat Integrität.
    { $subject } ist verlässlich.
    { $subject } ist zuverlässig.
    { $subject } verdient mein Vertrauen.
    { $subject } ist mir vertraut.

## Beanspruchung: NASA-TLX, ohne Gewichtung (Hart und Staveland 1988)

nasa-tlx-heading = Wie war die Aufgabe für Sie?
# Jede Zeile: die Frage | das untere Ende | das obere Ende.
nasa-tlx-items =
    Wie hoch waren die geistigen Anforderungen der Aufgabe? | sehr gering | sehr hoch
    Wie hoch waren die körperlichen Anforderungen der Aufgabe? | sehr gering | sehr hoch
    Wie eilig oder gehetzt war das Tempo der Aufgabe? | sehr wenig | sehr stark
    Wie erfolgreich haben Sie das erreicht, was Sie tun sollten? | perfekt | gar nicht
    Wie sehr mussten Sie sich anstrengen, um Ihre Leistung zu erreichen? | sehr wenig | sehr stark
    Wie verunsichert, entmutigt, gereizt, gestresst und verärgert waren Sie? | sehr wenig | sehr stark

## System Usability Scale (Brooke 1996)

sus-heading = Wie sehr stimmen Sie den einzelnen Aussagen zu?
sus-ends =
    stimme überhaupt nicht zu
    stimme voll und ganz zu
sus-items =
    Ich denke, dass ich { $about } gern häufig benutzen würde.
    Ich fand { $about } unnötig komplex.
    Ich fand { $about } einfach zu benutzen.
    Ich denke, dass ich technische Unterstützung brauchen würde, um { $about } benutzen zu können.
    Ich fand, dass { $about } die verschiedenen Funktionen gut miteinander verbindet.
    Ich fand { $about } zu uneinheitlich.
    Ich kann mir vorstellen, dass die meisten Menschen sehr schnell lernen würden, { $about } zu benutzen.
    Ich fand { $about } sehr umständlich zu benutzen.
    Ich fühlte mich sehr sicher, als ich { $about } benutzte.
    Ich musste viel lernen, bevor ich { $about } benutzen konnte.

## Zufriedenheit mit Erklärungen (Hoffman, Mueller, Klein und Litman 2018)

explanation-satisfaction-heading = Was halten Sie von den Erklärungen, die Sie gesehen haben?
explanation-satisfaction-answers =
    Stimme überhaupt nicht zu
    Stimme eher nicht zu
    Weder noch
    Stimme eher zu
    Stimme voll und ganz zu
explanation-satisfaction-items =
    Durch die Erklärung weiß ich, wie { $about } funktioniert.
    Diese Erklärung, wie { $about } funktioniert, ist zufriedenstellend.
    Diese Erklärung, wie { $about } funktioniert, ist ausführlich genug.
    Diese Erklärung, wie { $about } funktioniert, erscheint vollständig.
    Diese Erklärung, wie { $about } funktioniert, sagt mir, wie ich damit umgehen kann.
    Diese Erklärung, wie { $about } funktioniert, hilft mir bei dem, was ich erreichen möchte.
    Diese Erklärung zeigt mir, wie genau { $about } arbeitet.
    Mit dieser Erklärung kann ich beurteilen, wann { $about } Vertrauen verdient und wann nicht.

## Über die Teilnehmenden

demographics-heading = Ein wenig über Sie
demographics-age = Wie alt sind Sie, in Jahren?
demographics-gender =
    Wie beschreiben Sie sich?
    Frau
    Mann
    Nichtbinär
    Anders
    Das möchte ich nicht sagen
demographics-education =
    Was ist Ihr höchster Bildungsabschluss?
    Grundschule oder weniger
    Weiterführende Schule
    Berufsausbildung
    Bachelorabschluss
    Masterabschluss oder Diplom
    Promotion
    Das möchte ich nicht sagen

## Aufmerksamkeit

attention-heading = Eine Frage zum Lesen
# Die vorletzte Antwort ist die, nach der gefragt wird.
attention-check =
    Für diese Studie ist es wichtig, dass die Fragen gelesen werden. Gleich, welche Farbe Ihnen die liebste ist: Wählen Sie unten bitte „Violett“.
    Blau
    Grün
    Rot
    Violett
    Gelb

## Was an einer Antwort nicht stimmt

choose-some = Bitte wählen Sie mindestens eine Antwort.
rank-all = Bitte geben Sie jeder Zeile eine Zahl von 1 bis { $places }, und jede Zahl nur einmal.
write-number =
    Bitte schreiben Sie eine { $whole ->
        [yes] ganze Zahl
       *[no] Zahl
    }{ $range ->
        [least] , die mindestens { $lowest } ist
        [most] , die höchstens { $highest } ist
        [both] { " " }von { $lowest } bis { $highest }
       *[none] { "" }
    }.
