## Whether explanations let somebody predict a model on changed inputs

# An explanation by scores, in words.
named = The words that speak for this answer most: { $words }
rests-on =
    { $inputs ->
        [one] 1 input
       *[other] { $inputs } inputs
    }, { $changed ->
        [one] 1 changed version
       *[other] { $changed } changed versions
    } in all; the model gives another answer to { $flipped } of these.
explainer =
    { $explainer }: { $with_ } predicted with its explanations, { $without_ } without any, { $shuffled_ } with those of other inputs; { $case ->
        [helps] they help to predict the model.
        [misleads] they mislead.
       *[none] they are not known to help.
    }
