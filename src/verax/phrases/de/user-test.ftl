### Beide Vorhersagen nacheinander von denselben Personen. $kind ist "text" oder "table".

second-part-later = Danach folgt ein zweiter Teil mit geänderten { inputs-dative }; was Sie dort tun, erfahren Sie dann.
second-part = Der zweite Teil
second-part-text = Dies ist eine andere Aufgabe mit demselben Modell.
changed-part = Geänderte { inputs }
changed-part-of = Geänderte { inputs }: { $title }
