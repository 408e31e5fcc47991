### A user test: forward and then counterfactual simulation by the same people. $kind is "text" or "table".

second-part-later = After this comes a second part with changed { inputs }; it is explained when you get there.
second-part = The second part
second-part-text = This is another task with the same model.
changed-part = Changed { inputs }
# $title is the title of a part of it, such as "First predictions".
changed-part-of = Changed { inputs }: { $title }
