### Die Wahl zwischen zwei Modellen, die Roboter S und Roboter H heißen.

## Die Anweisungen

programs = Ein Computerprogramm liest einen { input } und antwortet: { $classes }.
task =
    Hier gibt es zwei solche Programme, Roboter S und Roboter H. Zu jedem { input } geben beide dieselbe Antwort. Manchmal ist sie falsch.
    Für jeden Roboter sind die { features } hervorgehoben, die am meisten für seine Antwort sprachen.
    Eines der beiden Programme ist das bessere. Ihre Aufgabe ist es, anhand der Hervorhebungen zu sagen, welcher Roboter vernünftiger ist.
    Für jeden { input } wird neu ausgelost, welches Programm Roboter S heißt und welches Roboter H.
    { $items ->
        [one] Es gibt einen { input }.
       *[other] Es gibt { $items } { inputs }.
    }

## Fragen zu den Anweisungen

what-to-say =
    Was sollen Sie zu jedem { input } sagen?
    - Ob die Antwort der Roboter richtig ist
    - Welcher Roboter auf die vernünftigeren { features } achtet
    - Welcher Roboter zuerst geantwortet hat
what-a-mark-means =
    { $kind ->
        [text] Ein Wort
       *[table] Ein Wert
    } ist hervorgehoben. Was bedeutet das?
    - Es sprach mehr als andere { features } für die Antwort dieses Roboters
    - Der Roboter hat dort einen Fehler gemacht
    - Es kommt am häufigsten vor
same-program =
    Ist Roboter S bei jedem { input } dasselbe Programm?
    - Ja
    - Ja, und es ist immer das bessere
    - Nein, die Namen werden jedes Mal neu ausgelost
same-answer =
    Geben beide Roboter zu einem { input } dieselbe Antwort?
    - Nie
    - Immer
    - Nur wenn sie richtig ist

## Der Teil und eine Eingabe darin

part = Zwei Roboter
heading = Welcher Roboter ist vernünftiger?
text = Für jeden Roboter sind die { features } hervorgehoben, die am meisten für diese Antwort sprachen.
both-answer = Antwort beider Roboter
robot-s = Roboter S
robot-h = Roboter H
# Von Roboter S bis Roboter H.
answers =
    Roboter S scheint deutlich vernünftiger als Roboter H.
    Roboter S scheint etwas vernünftiger als Roboter H.
    Ich kann nicht sagen, welcher Roboter vernünftiger ist.
    Roboter H scheint etwas vernünftiger als Roboter S.
    Roboter H scheint deutlich vernünftiger als Roboter S.
