### What experimenters read in the browser: signing in, the live page, one participant, the preview.
### $name is a participant's pseudonym; numbers are counted by the database.

## Every page

sign-out = Sign out
back-to-study = Back to the study

## Signing in

sign-in = Sign in
sign-in-text = This page is for those who run the study.
account-name = Name
password = Password
one-time-code = Code
one-time-code-text = of your second factor, if you have one; after many wrong codes, enter two in a row, this one and the next
# $command makes accounts.
sign-in-accounts = Accounts are made on the server with { $command }.
to-participants = To take part in the study, go to its { $first_page }.
first-page-link = first page
wrong-sign-in = The name, the password or the code is wrong.

## What is refused

role-too-small = Your role does not allow this
# $role is "owner", "helper" or "reader".
role-too-small-text =
    You work on this study as its { $role ->
        [owner] owner
        [helper] helper
       *[reader] reader
    }, so nothing was changed. Its owner can give you another role with verax study account --role.
not-from-here = That was not sent from this page
not-from-here-text = Nothing was changed. Please go back to the study, and try again there.
no-format = There is no such format
no-format-text = Choose one of these: { $formats }.
export-busy = An export is being made
export-busy-text = Please try again when it is done.
export-failed = The export could not be made
# $reason is what the server's disk says.
disk-full = The server's disk says: { $reason }. Make room there, and try again.

## The live page: its buttons

participants-first-page = The first page of participants
outdated = The server does not answer: what is shown below is not up to date.
open-the-study = Open the study
pause = Pause
close = Close …
export-format = Format of the export
export = Export
reload = Reload
close-heading = Close the study?
close-text = Nobody new can enter. People who are taking part may finish, and all answers are kept. You can open the study again.
close-the-study = Close the study
leave-open = Leave it as it is
share-heading = A link to share
share-text = whoever has it sees this page, and can change nothing
share-another = Make another link; this one stops working

## The live page: what it shows

state =
    { $state ->
        [open] Open
        [paused] Paused
       *[closed] Closed
    }
as-of = as of { $time }
to-decide = To decide
tally-came = Arrived
tally-inside = Taking part
tally-left = Left
tally-finished = Finished
tally-out = Excluded
of-places = of { $places }
# After a number of people: "3 screened out". $status is what became of them.
tally-others =
    { $people } { $status ->
        [invited] not agreed yet
        [declined] did not agree
        [full] found no place
        [screened-out] screened out
        [over-quota] quota full
       *[withdrawn] withdrew
    }
pace-heading = Who finished, over time
# $hours is how long, as it is printed; times are links to a moment.
forecast =
    At the pace of the last { $hours ->
        [hour] hour
       *[other] { $hours } hours
    }, in which { $finished } finished, the last place is filled at about { $at }
forecast-interval = (95% interval: { $earliest } to { $latest })
design = The design
key-finished = finished
key-inside = taking part
key-free = free
parts-heading = Time and drop-outs by part
column-part = Part
column-through = Finished it
column-median = Median
column-middle = Middle half
column-lost = Left here
from-to = { $low } to { $high }
nobody-through = Nobody has finished a part yet.
extremes = Of those who finished lately, { $fastest } was the fastest ({ $fastest_time }) and { $slowest } the slowest ({ $slowest_time }).
rules-heading = Exclusions by rule
column-rule = Rule
column-limit = Limit
column-people = People
rules-note = A rule deletes nobody. Rules are applied every minute.
no-rules = The spec declares none.
who-is-where = Who is where
last-of = the last { $shown } of { $came }
nobody-yet = Nobody has come yet.
bots = Bots
bots-text = apart from people: they take nobody's place
what-was-done = What was done
column-when = When
column-who = Who
column-what = What
nothing-yet = Nothing yet.
the-study = The study
# $at is the date of the freeze, or "none"; $hash is the study's.
frozen =
    { $at ->
        [none] Not frozen
       *[other] Frozen { $at }
    }, hash { $hash }
column-row = Row
column-participant = Participant
column-status = Status
column-where = Where
column-time = Time
column-seen = Seen
column-rules = Rules
row = row { $row }

# What became of somebody.
status-invited = Has not agreed yet
status-declined = Did not agree
status-full = Found no place
status-active = Taking part
status-left = Left
status-complete = Finished
status-screened-out = Screened out
status-over-quota = Quota was full
status-withdrawn = Withdrew

# $steps is "none" where it is not known, or not shown, how many there are.
where =
    { $part }, page { $page }{ $steps ->
        [none] { "" }
       *[other] { " " }of { $steps }
    }
part-instructions = { $part } (instructions)

# Times: $time as it is printed.
seconds-short = { $time } s
minutes-short = { $time } min
hours-short = { $time } h
just-now = just now
minutes-ago = { $time } min ago
hours-ago = { $time } h ago
days-ago =
    { $days ->
        [one] 1 day ago
       *[other] { $days } days ago
    }

# What somebody did to the study, after their name.
did-open = opened the study
did-paused = paused the study
did-closed = closed the study
did-export = exported the answers
did-withdrawal = ended a participant's part
did-exclusion = excluded a participant
did-inclusion = took an exclusion back
did-unblinding = looked at conditions before the study was closed
did-new-share-link = made a new link to share
did-purge = deleted answers whose time was over
did-sign-in-failed = could not sign in
did-alert = sent an alert
did-alert-not-sent = could not send an alert

# What somebody should do something about.
waiting =
    { $people ->
        [one] 1 person is
       *[other] { $people } people are
    } waiting for a place: all are taken or held.
crowded =
    { $places ->
        [one] 1 place is
       *[other] { $places } places are
    } held from one address, where nobody has given an answer yet, and no more are given there: this may be a class, or one person who takes up all places. Signed links (recruiting.signed) or codes prevent that.
decide-paused =
    The study is paused: nobody can enter, and { $inside ->
        [0] nobody is taking part.
        [one] the 1 person who is taking part is asked to come back later.
       *[other] the { $inside } people who are taking part are asked to come back later.
    }
decide-full = Every place of the design is filled: the study can be closed.
decide-freeze = The plan has no date yet: run verax study freeze before the first participant comes.
decide-unkept = { $pages } refused pages were counted but not stored, since too many of them are stored already: somebody may be trying to fill the disk.
decide-due =
    The answers of { $people ->
        [one] 1 person
       *[other] { $people } people
    } were to be kept for { $days ->
        [one] 1 day
       *[other] { $days } days
    }. That time is over: run verax study purge.

## One participant

a-bot = a bot
status = Status
by-hand = excluded by hand
row-of-design = Row of the design
none = none
no = no
suspected-retake = Suspected retake
retake-text = { $name } took part in the same browser before
came = Arrived
agreed = Agreed
finished = Finished
pages = Pages
pages-of = { $pages } of { $steps }
exclusions = Exclusions
column-why = Why
column-since = Since
column-until = Until
in-force = in force
take-back = Take the exclusion back
reason = Reason
exclude = Exclude
really-delete = Delete all that this participant gave, for good?
delete-it = Delete it
keep-it = Keep it
withdraw = Withdraw …
excluded-stay = People who are excluded stay in the data and in the export, with the reason; analyses leave them out and count them.
pages-and-answers = Pages and answers
blind = Until the study is closed you do not see who is in which condition, so that no decision about a participant can depend on it. Ratings, and questions that only some conditions ask, are hidden too.
unblind = Show conditions now, and record that I did
column-page = Page
column-item = Item
column-condition = Condition
column-answers = Answers
late = (late)
none-yet = No answers yet.
has-left = { $name } has left
has-left-text =
    { $pages ->
        [one] 1 answered page was
       *[other] { $pages } answered pages were
    } deleted for good. Delete backups and exports too.

## The preview

preview-nothing-recorded = Preview: nothing is recorded.
preview-another-row = Choose another row of the design
preview-fill-in = fill in and go on
preview-phone-and-desk = phone and desktop
preview-choose = Choose what a participant would be given. Each row of the design can be walked through as by a participant, from the first page to the completion code; time limits are real.
preview-row = Row { $row }
preview-all-pages = all its pages
preview-row-of = Row { $row } of “{ $study }”
preview-row-gives = This row gives its participants { $cells }.
preview-choose-page = Choose a page: what comes before it is filled in for you.
preview-other-rows = Other rows
preview-item = item { $item }
preview-page = page { $page }
preview-widths = The same page, 390 and 1,100 pixels wide.
preview-pages = all pages
preview-alone = this page alone
preview-phone = On a phone
preview-desk = On a desktop computer
