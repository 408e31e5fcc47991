### Der umgekehrte Turing-Test: Menschen ahmen das Modell nach, bei einer Aufgabe, die beschrieben oder verborgen ist.

## Die Anweisungen

task = Ihre Aufgabe ist es, die Antworten des Modells zu erraten. Ihre eigene Meinung zählt nicht.
rounds =
    { $rounds ->
        [1] Es gibt eine Runde.
        [2] Es gibt zwei Runden.
        [3] Es gibt drei Runden.
       *[other] Es gibt { $rounds } Runden.
    } Jede verläuft so:
first-without-training = Es gibt zwei Runden. Die erste ist ein Test ohne Training; die zweite verläuft so:
training-point =
    - Training: { $training ->
        [one] ein { input }
       *[other] { $training } { inputs }
    }. Sie erraten die Antwort des Modells und erfahren dann, wie sie war.
test-point =
    - Test: { $evaluation ->
        [one] ein { $new ->
            [yes] neuer { input }
           *[no] { input }
        }
       *[other] { $evaluation } { $new ->
            [yes] neue { inputs }
           *[no] { inputs }
        }
    }. Sie erraten die Antwort des Modells und erfahren nicht, wie sie war.
time = Wir messen, wie lange Sie brauchen. Wenn Sie eine Pause brauchen, machen Sie sie zwischen zwei Teilen.
hints-sometimes = In manchen Runden sehen Sie Hinweise. { $how_to_read } In anderen Runden sind keine { features } hervorgehoben.

## Fragen zu den Anweisungen

own-opinion = Meine eigene Meinung
is-time-measured =
    Messen wir, wie lange Sie brauchen?
    - Nein
    - Ja
    - Nur wenn ich sehr lange brauche
when-shown =
    Wann sehen Sie die Antwort des Modells?
    - Bevor ich rate
    - Nie
    - Im Training, nachdem ich geraten habe

## Die Teile

training = Training
test = Test
round-training = Runde { $round }: Training
round-test = Runde { $round }: Test
round-question = Runde { $round }: eine Frage

about-training =
    Sie sehen nun { $training ->
        [one] einen { input }. Erraten Sie die Antwort des Modells.
       *[other] { $training } { inputs }, einen nach dem anderen. Erraten Sie jeweils die Antwort des Modells.
    } Nach jedem Raten sehen Sie sie.
about-test =
    Sie sehen nun { $evaluation ->
        [one] einen { $new ->
            [yes] neuen { input }
           *[no] { input }
        }. Erraten Sie die Antwort des Modells.
       *[other] { $evaluation } { $new ->
            [yes] neue { inputs }
           *[no] { inputs }
        }, einen nach dem anderen. Erraten Sie jeweils die Antwort des Modells.
    } In diesem Teil sehen Sie die Antworten des Modells nicht.
hints-explained = In dieser Runde sehen Sie Hinweise. { $how_to_read }
hints-plain = In dieser Runde sind keine { features } hervorgehoben.
time-from-next-page = Ab der nächsten Seite wird die Zeit gemessen.

## Eine Eingabe

question = Was antwortet das Modell zu diesem { input }?
guess-shown-after = Erraten Sie die Antwort des Modells. Danach sehen Sie sie.
guess-not-shown = Erraten Sie die Antwort des Modells. In diesem Teil sehen Sie sie nicht.
answer-heading = Die Antwort des Modells
answer-text = Sehen Sie sich den { input } noch einmal an und versuchen Sie zu lernen, wie das Modell entscheidet.
