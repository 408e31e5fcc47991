### Vorhersage des Modells: An einigen Eingaben wird gelernt, an anderen vorhergesagt, vor und nach Erklärungen.

## Die Anweisungen

task = Ihre Aufgabe ist es, vorherzusagen, was das Modell antwortet, auch wenn Sie seine Antwort für falsch halten. Das Modell macht Fehler.
parts =
    Ihre Aufgabe hat vier Abschnitte:
    - Erster Blick: { $learning ->
        [one] ein { input }
       *[other] { $learning } { inputs }
    } mit der richtigen Antwort und der Antwort des Modells.
    - Erste Vorhersagen: { $test ->
        [one] ein neuer { input }
       *[other] { $test } neue { inputs }
    }. Sie sagen die Antwort des Modells vorher. Zurückblättern können Sie dabei nicht.
    - Zweiter Blick: { $learning ->
        [one] noch einmal der erste { input }
       *[other] noch einmal die ersten { $learning } { inputs }
    }.
    - Zweite Vorhersagen: { $test ->
        [one] noch einmal der { input } der ersten Vorhersagen
       *[other] noch einmal die { $test } { inputs } der ersten Vorhersagen, in anderer Reihenfolge
    }.
second-look-plain = Der zweite Blick zeigt dasselbe wie der erste: die richtige Antwort und die Antwort des Modells.
second-look-explained = Beim zweiten Blick werden die Antworten des Modells erklärt, und Sie bewerten jede Erklärung.

## Fragen zu den Anweisungen

may-look-back =
    Dürfen Sie zu den { inputs-dative } des ersten Blicks zurückblättern, während Sie vorhersagen?
    - Ja, jederzeit
    - Ja, aber nur einmal
    - Nein

nothing-new =
    Was sehen Sie beim zweiten Blick?
    - Die Antworten anderer Personen
    - Noch einmal dieselben { inputs }, mit der richtigen Antwort und der Antwort des Modells
    - Nur die { inputs }, ohne Antworten

## Die Teile

first-look = Erster Blick
first-predictions = Erste Vorhersagen
second-look = Zweiter Blick
second-predictions = Zweite Vorhersagen

about-first-look =
    Sie sehen nun { $learning ->
        [one] einen { input }
       *[other] { $learning } { inputs }, einen nach dem anderen,
    } mit der richtigen Antwort und der Antwort des Modells.
no-way-back = Versuchen Sie zu lernen, wie das Modell entscheidet. Nehmen Sie sich Zeit: Sie können nicht zurückblättern.
way-back = Versuchen Sie zu lernen, wie das Modell entscheidet. Bis dieser Teil vorbei ist, können Sie zu früheren Seiten zurückblättern.

about-first-predictions =
    Sie sehen nun { $test ->
        [one] einen neuen { input }. Sagen Sie die Antwort des Modells vorher
       *[other] { $test } neue { inputs }. Sagen Sie jeweils die Antwort des Modells vorher
    }, auch wenn Sie sie für falsch halten. Sie können nicht zurückblättern.

about-second-look-plain =
    Sie sehen nun { $learning ->
        [one] den { input }
       *[other] die { $learning } { inputs }
    } des ersten Blicks noch einmal, wie zuvor mit der richtigen Antwort und der Antwort des Modells.
    Versuchen Sie, mehr darüber zu lernen, wie das Modell entscheidet.
about-second-look-explained =
    Sie sehen nun { $learning ->
        [one] den { input } des ersten Blicks noch einmal, mit einer Erklärung. Sie bewerten die Erklärung.
       *[other] die { $learning } { inputs } des ersten Blicks noch einmal, mit Erklärungen. Sie bewerten jede Erklärung.
    }

about-second-predictions =
    Sie sehen nun { $test ->
        [one] den { input } der ersten Vorhersagen noch einmal. Sagen Sie die Antwort des Modells vorher
       *[other] die { $test } { inputs } der ersten Vorhersagen noch einmal, in anderer Reihenfolge. Sagen Sie jeweils die Antwort des Modells vorher
    }, auch wenn Sie sie für falsch halten. Sie können nicht zurückblättern.
    Ihre Antworten können dieselben sein wie zuvor oder andere.

## Eine Eingabe

look-heading = Wie antwortet das Modell?
look-text = Vergleichen Sie die beiden Antworten und versuchen Sie zu lernen, wie das Modell entscheidet.
explained-heading = Warum gab das Modell diese Antwort?
explained-text = Lesen Sie die Erklärung und bewerten Sie sie. Versuchen Sie zu lernen, wie das Modell entscheidet.
predict-question = Was antwortet das Modell zu diesem { input }?
