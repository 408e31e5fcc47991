### Was mehrere Bereiche gemeinsam haben.

# Wie eine Aufzählung endet: „a, b und c“, und „a, b oder c“.
list-end = { $first } und { $last }
list-or = { $first } oder { $last }
list-between = { $first }, { $second }

# Bereiche einer Zahl, als Klassen.
band-below = unter { $edge }
band-between = { $low } bis { $high }
band-above = { $edge } oder mehr

# Am Ende einer Aufzählung, die nur einige nennt: „a, b und 3 weitere“.
more-names =
    { $many ->
        [one] { $many } weiterer
       *[other] { $many } weitere
    }

# Unter einer Tabelle in einem Terminal, in das sie nicht ganz passt.
more-columns =
    { $more ->
        [one] Eine weitere Spalte steht im Bericht.
       *[other] { $more } weitere Spalten stehen im Bericht.
    }

verdict-figure =
    { $measure }{ $intervals ->
        [yes] ; die Linien sind 95-%-Intervalle
       *[no] { "" }
    }{ $reference ->
        [none] .
       *[other] ; die senkrechte Linie ist { $reference } ({ $value }).
    }

failed-jobs =
    { $jobs ->
        [one] 1 { $job ->
            [trial] Durchgang ist
           *[job] Auftrag ist
        }
       *[other] { $jobs } { $job ->
            [trial] Durchgänge sind
           *[job] Aufträge sind
        }
    } gescheitert ({ $names }{ $more ->
        [0] { "" }
       *[other] ; und { $more } weitere
    }): { $reason }.

continued =
    { $times ->
        [one] 1-mal fortgesetzt
       *[other] { $times }-mal fortgesetzt
    }

# Die Teile der Seite eines Laufs.
page-found = { $title }: was gefunden wurde
part-found = Was gefunden wurde
part-numbers = Die Zahlen
part-failed = Was gescheitert ist
part-left-out = Was weggelassen wurde
part-again = Noch einmal ausführen
part-again-how = Wie es noch einmal ausgeführt wird

report-is = Der Bericht ist { $path }.

## Wie Teilnehmende eine Eingabe und ihre Merkmale nennen. $kind ist "text" oder "table". Text und Datensatz sind beide
## männlich; Fälle, in denen sich die Form ändert, haben eigene Wörter.

input = { $kind ->
        [text] Text
       *[table] Datensatz
    }
input-genitive = { $kind ->
        [text] Textes
       *[table] Datensatzes
    }
inputs = { $kind ->
        [text] Texte
       *[table] Datensätze
    }
inputs-dative = { $kind ->
        [text] Texten
       *[table] Datensätzen
    }
feature = { $kind ->
        [text] Wort
       *[table] Wert
    }
features = { $kind ->
        [text] Wörter
       *[table] Werte
    }
features-dative = { $kind ->
        [text] Wörtern
       *[table] Werten
    }
# Über einer Eingabe.
input-title = { $kind ->
        [text] Text
       *[table] Datensatz
    }
