### Der unsichere Fall: Gesucht ist die wahre Klasse von Eingaben, bei denen das Modell unsicher ist, ohne die Eingaben.

## Die Anweisungen

shown = Sie bekommen die { inputs }, bei denen das Modell unsicher ist. Sie sehen seine Antwort und für wie wahrscheinlich es jede Antwort hält. Den { input } selbst sehen Sie nicht.
fragments =
    { $often ->
        [sometimes] Bei einigen sehen Sie
       *[always] Sie sehen
    } auch Ausschnitte aus dem { input }: diejenigen, die am meisten für die Antwort des Modells sprachen, und diejenigen, die am meisten für die anderen Antworten sprachen.
task = Ihre Aufgabe ist es zu sagen, was der { input } wirklich ist: { $classes }. Sie sagen auch, ob Sie sicher sind.
right-on-half = Die { inputs } wurden so ausgewählt, dass das Modell bei der Hälfte von ihnen recht hat, obwohl es seine Antworten für wahrscheinlicher hält.
sometimes-wrong = Manchmal irrt sich das Modell.
count =
    { $items ->
        [one] Es gibt einen { input }.
       *[other] Es gibt { $items } { inputs }.
    }

## Fragen zu den Anweisungen

what-to-say =
    Was sollen Sie zu jedem { input } sagen?
    - Was das Modell sagt
    - Was die meisten Menschen sagen würden
    - Was der { input } wirklich ist
which-inputs =
    Welche { inputs } bekommen Sie?
    - Die, bei denen das Modell sicher ist
    - Die, bei denen das Modell unsicher ist
    - Die, bei denen sich das Modell irrt
is-input-shown =
    Sehen Sie den { input } selbst?
    - Nein
    - Ja, immer
    - Ja, nach meiner Antwort
is-model-right =
    Hat das Modell recht?
    - Immer
    - Manchmal
    - Nie

## Der Teil und eine Eingabe darin

part = Unsichere Antworten
question = Was ist dieser { input } wirklich?
probabilities-title = Für wie wahrscheinlich das Modell jede Antwort hält
unsure-half = Das Modell ist unsicher. Es hat bei der Hälfte der { inputs } dieser Studie recht.
unsure-sometimes = Das Modell ist unsicher. Manchmal irrt es sich.
evidence-title = Spricht für: { $name }
certain =
    { $noun ->
        [none] Ich bin sicher: { $name }.
       *[other] Ich bin sicher: { $name } ({ $noun }).
    }
likely =
    { $noun ->
        [none] Ich bin nicht sicher, aber wahrscheinlich: { $name }.
       *[other] Ich bin nicht sicher, aber wahrscheinlich: { $name } ({ $noun }).
    }
