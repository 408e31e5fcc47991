### Was das Skript der Seiten für Teilnehmende sagt.

copied = Kopiert.
selected = Ausgewählt: Kopieren Sie den Code mit Strg-C.
next-question = Nächste Frage
question-of = Frage { $number } von { $questions }
back = Zurück
read-on = Weiterlesen
more-to-read = Es geht noch weiter.
all-read = Das war der ganze Text.
answer-first = Bitte beantworten Sie zuerst diese Frage.
read-first =
    Bitte lesen Sie zuerst diese Seite: noch { $count ->
        [one] { $count } Sekunde
       *[other] { $count } Sekunden
    }.
under-a-minute = noch weniger als eine Minute
minutes-left =
    noch etwa { $count ->
        [one] { $count } Minute
       *[other] { $count } Minuten
    }
over-go-on =
    Die Zeit für { $what ->
        [part] diesen Teil
       *[page] diese Seite
    } ist abgelaufen. Drücken Sie auf die Schaltfläche, um fortzufahren.
over-answer =
    Die Zeit für { $what ->
        [part] diesen Teil
       *[page] diese Seite
    } ist abgelaufen. Bitte antworten Sie jetzt.
clock-minutes =
    { $what ->
        [part] Dieser Teil
       *[page] Diese Seite
    }: noch etwa { $count ->
        [one] { $count } Minute
       *[other] { $count } Minuten
    }
clock-seconds =
    { $what ->
        [part] Dieser Teil
       *[page] Diese Seite
    }: noch { $count ->
        [one] { $count } Sekunde
       *[other] { $count } Sekunden
    }
seconds-left =
    Noch { $count ->
        [one] { $count } Sekunde
       *[other] { $count } Sekunden
    } für { $what ->
        [part] diesen Teil
       *[page] diese Seite
    }.
