### Die Klasse aus den Belegen: Aus Ausschnitten, die eine Erklärung auswählt, wird auf die Antwort des Modells geschlossen.

## Die Anweisungen

task =
    Sie sehen einige Ausschnitte aus einem { input }: diejenigen, die am meisten für die Antwort des Modells sprachen. Den { input } selbst sehen Sie nicht.
    { $asked ->
        [model] Ihre Aufgabe ist es zu sagen, was das Modell geantwortet hat: { $classes }. Manchmal irrt sich das Modell, aber hier zählt nur seine Antwort.
       *[input] Ihre Aufgabe ist es zu sagen, aus was für einem { input } sie stammen: { $classes }.
    } Sie sagen auch, ob Sie sicher sind. Wenn Ihnen die Ausschnitte nichts sagen, wählen Sie „Das kann ich nicht sagen“.
    { $items ->
        [one] Es gibt einen { input }.
       *[other] Es gibt { $items } { inputs }.
    }

## Fragen zu den Anweisungen

what-is-shown =
    Was sehen Sie?
    - Den ganzen { input }
    - Einige Ausschnitte aus einem { input }
    - Die Antwort des Modells
how-chosen =
    Wie wurden die Ausschnitte ausgewählt?
    - Sie sprachen am meisten für die Antwort des Modells
    - Sie sind der Anfang des { input-genitive }
    - Menschen haben sie ausgewählt
tell-nothing =
    Was tun Sie, wenn Ihnen die Ausschnitte nichts sagen?
    - Ich wähle irgendeine Antwort
    - Ich lasse die Frage aus
    - Ich wähle „Das kann ich nicht sagen“
your-task =
    Was ist Ihre Aufgabe?
    - { $asked ->
        [model] Zu sagen, was das Modell geantwortet hat, und ob ich sicher bin
       *[input] Zu sagen, was für ein { input } es ist, und ob ich sicher bin
    }
    - Zu sagen, ob das Modell recht hat
    - Den interessantesten Ausschnitt zu wählen

## Der Teil und eine Eingabe darin

part = Ausschnitte
question =
    { $asked ->
        [model] Was hat das Modell zu diesem { input } geantwortet?
       *[input] Aus was für einem { input } stammen diese Ausschnitte?
    }
text = Diese Ausschnitte aus einem { input } sprachen am meisten für die Antwort des Modells. Der { input } selbst wird nicht gezeigt.
certain =
    { $asked ->
        [model] Ich bin sicher, dass das Modell geantwortet hat: { $name }.
        [noun] Ich bin sicher: { $name } ({ $noun }).
       *[input] Ich bin sicher: { $name }.
    }
likely =
    { $asked ->
        [model] Ich bin nicht sicher, aber wahrscheinlich hat das Modell geantwortet: { $name }.
        [noun] Ich bin nicht sicher, aber wahrscheinlich: { $name } ({ $noun }).
       *[input] Ich bin nicht sicher, aber wahrscheinlich: { $name }.
    }
cannot-say = Das kann ich nicht sagen.
