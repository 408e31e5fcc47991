### What experimenters read before a study begins and while it runs: the checklist, and alerts. $title is of the study.

## The checklist: what is missing, and what to do about it; then what is fine.

pilot-missing = Nobody has gone through a pilot: run verax study pilot { $folder } and go through it yourself.
pilot-fine = The pilot was finished by { $people ->
        [one] 1 person
       *[other] { $people } people
    }.
frozen-missing = The study is not frozen: verax study freeze { $folder } writes the text of a preregistration.
frozen-fine = The study has been frozen since { $at }.
power-missing = With the planned number of participants, the study { $sentence }: verax study power says how many it takes.
power-unknown = How many participants it takes cannot be simulated for this design: { $reason }
power-fine = The study { $sentence }.
consent-missing = People are not told all that they should know before they agree: { $entries } in the spec.
consent-fine = The first page says what people should know before they agree.
# $entry is "code", "prolific" or "mturk".
codes-missing = { $entry ->
        [code] There are no codes to enter with: verax study codes { $folder } makes some.
       *[prolific] Prolific is not told who is done: put the codes of your own study there into { $entries } under [recruiting] in the spec.
    }
codes-fine = The codes and addresses that participants need to enter, and to return when they are done, are set.
backup-missing = No backup was made: let verax study backup { $folder } run every hour, to another machine if you can.
backup-fine = There is a backup, { $name }.
clock-missing = The clock of this machine is not synchronised: turn on NTP (timedatectl set-ntp true), or times and limits drift.
clock-unknown = Whether the clock of this machine is synchronised cannot be told here: check it yourself.
clock-fine = The clock of this machine is synchronised.
https-missing = It is not known whether the pages come by https: give the address that participants open with --url.
https-plain = The address { $url } does not begin with https://, so that others on the network can read the answers: put a proxy with a certificate in front of the server.
https-unreachable = The address { $url } does not answer ({ $reason }): start the server, or correct the address.
https-fine = The pages come by https.
all-fine = Nothing is missing.

## Alerts: a line for the subject, and a sentence with what to do.

alert-full = { $title }: all places are filled
alert-full-text = { $people ->
        [one] 1 person has
       *[other] { $people } people have
    } completed the study. Stop recruiting on the platform, and close the study.
alert-error = { $title }: there were errors on the server
alert-error-text = { $errors ->
        [one] 1 page
       *[other] { $errors } pages
    } could not be shown or saved. Look at the server's log.
alert-dropout = { $title }: many people leave
alert-dropout-text = { $left } of { $began } who began have left, which is more than the limit of { $share }. verax study status says in which part they left.
alert-silent = { $title }: nobody came
alert-silent-text = Nobody has come for { $hours ->
        [1] an hour
       *[other] { $hours } hours
    }, and places are free. See whether recruiting is still open and the link works.
