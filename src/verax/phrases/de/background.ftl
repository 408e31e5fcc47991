### Was Teilnehmende über sich gefragt werden: eine Frage und ihre Antworten in ihrer Reihenfolge.

age =
    Wie alt sind Sie?
    - 18 bis 24
    - 25 bis 34
    - 35 bis 44
    - 45 bis 54
    - 55 bis 64
    - 65 oder älter
# Die Sprache, in der die Studie ist.
language =
    Wie gut können Sie Deutsch?
    - Es ist meine Muttersprache
    - Ich spreche es gut
    - Ich spreche es ein wenig
course =
    Haben Sie schon einmal einen Kurs in Informatik oder Statistik besucht?
    - Nein
    - In Informatik
    - In Statistik
    - In beidem
words = Gibt es noch etwas, das Sie uns mitteilen möchten?
unsaid = Das möchte ich nicht sagen
