### Wie Erklärungen zu lesen sind: in den Anweisungen, in der Zeile unter einer Erklärung, und die Frage zur Methode.

# Über einer Erklärung.
title = Erklärung

## Hervorhebungen

marks =
    { $kind ->
        [text] Die Wörter
       *[table] Die Werte
    }, die für die Antwort des Modells am wichtigsten waren, sind hervorgehoben. Je stärker die Hervorhebung, desto wichtiger war { $kind ->
        [text] das Wort
       *[table] der Wert
    }. { $direction ->
        [yes] Blau (+) sprach für die Antwort, die das Modell gab, Orange (−) dagegen.
       *[no] Die Hervorhebung sagt nicht, für welche Antwort { $kind ->
            [text] das Wort
           *[table] der Wert
        } sprach.
    }
marks-line =
    Je stärker die Hervorhebung, desto wichtiger war { $kind ->
        [text] das Wort
       *[table] der Wert
    } für die Antwort des Modells.{ $direction ->
        [yes] { " " }Blau (+): dafür. Orange (−): dagegen.
       *[no] { "" }
    }

## Erklärungen in Worten

beside = Die Erklärung der Antwort des Modells steht neben dem { input }.
line-below = Eine Zeile darunter sagt, wie sie zu lesen ist.
written-beside =
    Die Erklärung der Antwort des Modells steht in Worten neben dem { input }.{ $line_below ->
        [yes] { " " }Eine Zeile darunter sagt, wie sie zu lesen ist.
       *[no] { "" }
    }
or-highlights = Oder es gibt stattdessen Hervorhebungen.

## Regeln

rules =
    Sie sehen Bedingungen: { $kind ->
        [text] Wörter, die im Text bleiben
       *[table] wie einige Werte des Datensatzes sein müssen
    }. Solange sie gelten, gibt das Modell bei fast allen geänderten Fassungen des { input-genitive } diese Antwort, was auch immer sonst geändert wird. Wo es das seltener tut, sagt die Erklärung, wie oft. Wo keine Bedingung nötig ist, tut es das bei fast allen geänderten Fassungen, was auch immer geändert wird.
rule-holds = Solange diese Bedingungen gelten, gibt das Modell bei fast allen geänderten Fassungen des { input-genitive } diese Antwort, was auch immer sonst geändert wird.
rule-weak = Diese Bedingungen allein legen die Antwort des Modells nicht fest.
no-condition-holds = Das Modell gibt bei fast allen geänderten Fassungen des { input-genitive } diese Antwort.
no-condition-weak = Welche Bedingungen auch versucht wurden: Änderungen am Rest änderten oft die Antwort.

## Wege

margin = Die Evidenzmarge sagt, wie stark das Modell zu einer Antwort neigt; wo sich ihr Vorzeichen ändert, ändert sich die Antwort.
step =
    Jeder Schritt { $kind ->
        [text] zeigt den Text mit den bisher geänderten Wörtern zwischen Sternchen
       *[table] nennt die bisher geänderten Werte, vorher und nachher
    }. { margin }
paths = Sie sehen Änderungen, nach denen das Modell eine andere Antwort gibt. { step } Wo keine solchen Änderungen gefunden wurden, sagt die Erklärung das.
no-path = Das Modell gab bei allen geänderten Fassungen des { input-genitive }, die versucht wurden, dieselbe Antwort. Die Evidenzmarge sagt, wie stark es zu einer Antwort neigt.
last-steps =
    Änderungen, nach denen das Modell eine andere Antwort gibt ({ $kind ->
        [text] neue Wörter stehen zwischen Sternchen
       *[table] jeder Wert vorher und nachher
    }). Wo keine gefunden wurden, steht das da.

## Beispiele

exemplars = Von einigen Beispielen (Prototypen), aus denen das Modell gelernt hat, sehen Sie das ähnlichste, dessen Klasse die Antwort des Modells ist. Der höchste Ähnlichkeitswert ist 10; wichtige { features } machen den { input } dem Beispiel ähnlicher (+) oder weniger ähnlich (-).
decides-by-examples = Das Modell findet seine Antworten, indem es mit solchen Beispielen vergleicht.

## Mehrere Erklärungen einer Antwort

several = Mehrere Erklärungen derselben Antwort, eine unter der anderen.
several-point = - { $name }: { $line }

## In einfachen Worten

# Über den Teilen mehrerer Erklärungen.
plain-part-marks = Was am wichtigsten war
plain-part-rule = Was für diese Antwort genügt
plain-part-path = Was die Antwort ändern würde
plain-part-exemplar = Ein ähnliches Beispiel
plain-scores = Die { features }, die am meisten für die Antwort des Modells sprachen, und die, die dagegen sprachen.
plain-rules =
    Sie sehen { $kind ->
        [text] Wörter des Textes
       *[table] einige Werte des Datensatzes
    }. Solange sie bleiben, wie sie sind, gibt das Modell bei fast allen geänderten Fassungen des { input-genitive } diese Antwort, was auch immer sonst geändert wird. Wo das seltener so ist, sagt die Erklärung, wie oft. Wo keine nötig sind, sagt sie auch das.
plain-rule-holds = Der Rest des { input-genitive } wurde auf viele Arten geändert, und das Modell gab fast immer diese Antwort.
plain-rule-weak = Diese { features } allein legen die Antwort des Modells nicht fest.
plain-paths =
    Sie sehen Änderungen, nach denen das Modell eine andere Antwort gibt{ $kind ->
        [text] ; neue Wörter sind umrahmt
       *[table] , mit jedem Wert vorher und nachher
    }. Wo keine solchen Änderungen gefunden wurden, sagt die Erklärung das.
plain-step =
    { $kind ->
        [text] Neue Wörter sind umrahmt.
       *[table] Jeder Wert vor und nach der Änderung.
    }
plain-exemplars = Von den Beispielen, aus denen das Modell gelernt hat, sehen Sie das ähnlichste, dessen Klasse die Antwort des Modells ist, und was die beiden ähnlich macht oder unterscheidet. Die höchste Ähnlichkeit ist 10.
plain-similarity-line = Die höchste Ähnlichkeit ist 10.

## Gewichte

weights-sum =
    Summe der { $kind ->
        [text] Wörter
       *[table] Werte
    }
weights-baseline = Grundwert
weights-probability = Geschätzte Wahrscheinlichkeit von { $name }
weights-of-two = Die wichtigsten { features } mit ihren Gewichten: Über null sprechen sie für { $name }, unter null für { $other }. Ihre Summe und der Grundwert ergeben die geschätzte Wahrscheinlichkeit von { $name }, die auch unter 0 oder über 1 liegen kann.
weights-of-one = Die wichtigsten { features } mit ihren Gewichten: Über null sprechen sie für { $name }, unter null dagegen. Ihre Summe und der Grundwert ergeben die geschätzte Wahrscheinlichkeit von { $name }, die auch unter 0 oder über 1 liegen kann.
weights-of-answer = Die wichtigsten { features } mit ihren Gewichten: Über null sprechen sie für die Antwort des Modells, unter null dagegen. Ihre Summe und der Grundwert ergeben die geschätzte Wahrscheinlichkeit der Antwort des Modells, die auch unter 0 oder über 1 liegen kann.

## Die Bewertung einer Erklärung

rating-question = Zeigt mir diese Erklärung, warum das System zu seiner Antwort kam?
rating-low = überhaupt nicht
rating-high = vollständig

## Fragen zur Methode: die Frage und ihre Antworten in ihrer Reihenfolge. Die zweite Antwort ist immer richtig.

question-marks =
    { $kind ->
        [text] Ein Wort
       *[table] Ein Wert
    } ist stark hervorgehoben. Was bedeutet das?
    - Das Modell hat recht
    - { $kind ->
        [text] Das Wort
       *[table] Der Wert
    } war für die Antwort des Modells sehr wichtig
    - Jemand fand { $kind ->
        [text] das Wort
       *[table] den Wert
    } interessant
question-weights =
    Was sagen Ihnen die Gewichte der { features }?
    - Wie wahrscheinlich es ist, dass das Modell recht hat
    - Wie sehr { $kind ->
        [text] jedes Wort
       *[table] jeder Wert
    } für die eine oder die andere Antwort spricht
    - Wie oft { $kind ->
        [text] jedes Wort
       *[table] jeder Wert
    } vorkommt
question-rule =
    Eine Erklärung nennt Bedingungen. Was bedeuten sie?
    - Das Modell gibt diese Antwort nur, wenn sie gelten
    - Solange sie gelten, gibt das Modell fast immer diese Antwort, was auch immer sonst geändert wird
    - Solange sie gelten, ist die Antwort des Modells richtig
question-plain-rule =
    Eine Erklärung zeigt einige { features }. Was bedeuten sie?
    - Das Modell gibt diese Antwort nur, wenn sie da sind
    - Solange sie bleiben, gibt das Modell fast immer diese Antwort, was auch immer sonst geändert wird
    - Solange sie bleiben, ist die Antwort des Modells richtig
question-plain-path =
    Eine Erklärung zeigt Änderungen. Was sind sie?
    - Änderungen, die den { input } verständlicher machen
    - Änderungen, nach denen das Modell eine andere Antwort gibt
    - Berichtigungen von Fehlern des Modells
question-path =
    Eine Erklärung zeigt Schritte. Was sind sie?
    - Die Reihenfolge, in der das Modell die { features } liest
    - Änderungen, die das Modell zu einer anderen Antwort führen
    - Berichtigungen von Fehlern des Modells
question-exemplar =
    Eine Erklärung zeigt ein Beispiel. Was ist es?
    - Ein { input }, den jemand ausgesucht hat, weil er leicht zu verstehen ist
    - Von den { inputs-dative }, aus denen das Modell gelernt hat, das ähnlichste Beispiel mit dieser Antwort
    - Der { input }, den das Modell am schwierigsten findet
question-composite =
    Eine Erklärung hat mehrere Teile. Was sind sie?
    - Erklärungen mehrerer Modelle
    - Verschiedene Erklärungen derselben Antwort
    - Erklärungen mehrerer Antworten, von denen die letzte richtig ist
question-written =
    Was zeigt eine Erklärung?
    - Ob das Modell recht hat
    - Was für die Antwort des Modells wichtig war
    - Was jemand interessant findet
