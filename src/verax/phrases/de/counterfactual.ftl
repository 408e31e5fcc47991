### Vorhersage des Modells an geänderten Fassungen von Eingaben, vor und nach Erklärungen.

## Die Anweisungen

task =
    { $test ->
        [one] Zu einem { input }
       *[other] Zu jedem von { $test } { inputs-dative }
    } sehen Sie die richtige Antwort, die Antwort des Modells und eine geänderte Fassung, in der einige { features } ersetzt wurden.
    Ihre Aufgabe ist es, vorherzusagen, was das Modell zu der geänderten Fassung antwortet, auch wenn Sie seine Antwort für falsch halten. Das Modell macht Fehler.
balance = { $half_right } Bei der Hälfte von ihnen führt die Änderung zu einer anderen Antwort des Modells.
parts =
    Ihre Aufgabe hat zwei Abschnitte:
    - Erste Vorhersagen: { $test ->
        [one] ein { input }
       *[other] { $test } { inputs }
    }.
    - Zweite Vorhersagen: { $test ->
        [one] noch einmal derselbe { input }
       *[other] dieselben { inputs } in anderer Reihenfolge
    }.
second-plain = Die zweiten Vorhersagen zeigen dieselben { inputs } und Änderungen wie die ersten.
second-explained = Bei den zweiten Vorhersagen wird die Antwort des Modells zum Original erklärt.
also-rate = Außerdem bewerten Sie jede Erklärung. { $what_to_rate }

## Fragen zu den Anweisungen

what-to-predict =
    Was sagen Sie vorher?
    - Die richtige Antwort für den geänderten { input }
    - Was das Modell zu dem ursprünglichen { input } antwortet
    - Was das Modell zu dem geänderten { input } antwortet, auch wenn es falsch ist

how-often-changed =
    Wie oft führt die Änderung zu einer anderen Antwort des Modells?
    - Immer
    - Bei der Hälfte der { inputs }
    - Nie

nothing-new =
    Was sehen Sie bei den zweiten Vorhersagen?
    - Andere { inputs } als bei den ersten
    - Dieselben { inputs } und Änderungen wie bei den ersten
    - Nur die geänderten { inputs }

## Die Teile

first-predictions = Erste Vorhersagen
second-predictions = Zweite Vorhersagen

about-first =
    Sie sehen nun { $test ->
        [one] einen { input } und eine geänderte Fassung davon
       *[other] { $test } { inputs } und zu jedem eine geänderte Fassung
    }.
    Sagen Sie die Antwort des Modells zu der geänderten Fassung vorher, auch wenn Sie sie für falsch halten.
about-second-plain =
    Sie sehen nun dieselben { inputs } und Änderungen noch einmal, in anderer Reihenfolge.
    Sagen Sie die Antwort des Modells zu der geänderten Fassung vorher. Ihre Antworten können dieselben sein wie zuvor oder andere.
about-second-explained = Sie sehen nun dieselben { inputs } und Änderungen noch einmal, in anderer Reihenfolge und mit einer Erklärung der Antwort des Modells zum Original. Bewerten Sie die Erklärung und sagen Sie die Antwort des Modells zu der geänderten Fassung vorher.

## Eine Eingabe

question = Was antwortet das Modell zu dem geänderten { input }?
plain-text = Einige { features } wurden geändert. { $even_if_wrong }
explained-heading = Erklärung bewerten, dann vorhersagen
explained-text = Die Erklärung gilt für das Original. Danach wurden einige { features } geändert. { $even_if_wrong }
original-title = Ursprünglicher { input }
changed-title = Geänderter { input }
