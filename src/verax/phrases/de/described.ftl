### Was Erklärungen in Worten sagen. $name ist der Name einer Antwort; $kind ist "text" oder "table".

rule-conditions = Bedingungen, unter denen das Modell „{ $name }“ vorhersagt:
rule-none-found = Es wurde keine Bedingung gefunden, unter der das Modell „{ $name }“ vorhersagt.
rule-nothing-to-change = An dieser Eingabe ließ sich nichts ändern, daher konnte keine Bedingung gesucht werden.
rule-none-needed = Es ist keine Bedingung nötig: Das Modell sagt für fast alle geänderten Fassungen „{ $name }“ vorher.
rule-how-often =
    { $named ->
        [yes] Solange diese Bedingungen gelten
       *[no] Ohne Bedingungen
    }{ $named ->
        [yes] ,{ " " }
       *[no] { " " }
    }gibt das Modell diese Antwort bei etwa { $often } von 100 geänderten Fassungen.

path-margin = Evidenzmarge des Originals: { $margin }
path-edits = Änderungen, nach denen die Vorhersage „{ $name }“ ist:
path-step = Schritt { $step }. Evidenzmarge: { $margin }
path-last = Von { $steps } Schritten werden die letzten { $last } gezeigt.
path-none = Es wurden keine Änderungen gefunden, die die Vorhersage „{ $name }“ ändern.
path-not-predicted = Das Modell sagt hier nicht „{ $name }“ vorher: Nur was es vorhersagt, lässt sich durch Änderungen ändern.
before = vorher
after = nachher

exemplar = Ähnlichster Prototyp mit der Klasse „{ $name }“:
variable = Merkmal
prototype = Prototyp
original = Eingabe
important =
    Wichtige { features }:{ $chosen ->
        [yes] { "" }
       *[no] { " " }(keine ausgewählt)
    }
similarity = Ähnlichkeit: { $score } von { $most }

sum = Summe der { features }
baseline = Grundwert
probability = Geschätzte Wahrscheinlichkeit von „{ $name }“

## In einfachen Worten, für Teilnehmende

plain-rule =
    Solange { $kind ->
        [text] diese Wörter im Text bleiben
       *[table] diese Werte bleiben, wie sie sind
    }, antwortet das Modell „{ $name }“:
plain-rule-none-found =
    Es wurden keine { $kind ->
        [text] Wörter
       *[table] Werte
    } gefunden, die allein genügen, damit das Modell bei „{ $name }“ bleibt.
plain-rule-nothing-to-change = An diesem { input } ließ sich nichts ändern, daher konnte nichts ausprobiert werden.
plain-rule-none-needed = Das Modell antwortet bei fast allen geänderten Fassungen „{ $name }“, was auch immer geändert wird.
plain-rule-how-often =
    { $named ->
        [yes] Dann gibt es diese Antwort
       *[no] Es gibt diese Antwort
    } bei etwa { $often } von 100 geänderten Fassungen.
plain-path =
    Mit { $edits ->
        [one] dieser Änderung
       *[other] diesen Änderungen
    } antwortet das Modell „{ $name }“:
plain-path-none = Es wurden keine Änderungen gefunden, nach denen das Modell eine andere Antwort gibt.
plain-exemplar = Von den Beispielen mit der Klasse „{ $name }“, aus denen das Modell gelernt hat, ist dieses das ähnlichste:
plain-alike = Was die beiden ähnlich macht: { $names }
plain-apart = Was sie unterscheidet: { $names }
plain-similarity = Ähnlichkeit: { $score } von { $most }
plain-for = Für die Antwort des Modells: { $names }
plain-against = Dagegen: { $names }

## Werte eines Datensatzes

missing = fehlt
above = über { $low }
up-to = bis { $high }
between = über { $low }, bis { $high }
