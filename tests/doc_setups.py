"""What the blocks of Python in the docs suppose, and the numbers of theirs that would take minutes."""

LITTLE = """
import numpy as np
import verax
data = verax.load_dataset("rotten-tomatoes", limit=300)
model = verax.fit_model("logistic", data)
"""
SERVED = """
from verax.web.serve import serving_aside
pages = serving_aside("studies/forward")
address = pages.__enter__()
"""
PEOPLE = """
import pandas as pd
from sklearn.tree import DecisionTreeClassifier
frame = pd.read_csv("people.csv")
columns, labels = ["age", "grade"], frame.income
pipeline = make_pipeline(DecisionTreeClassifier())
"""
BERT = """
from pathlib import Path
import torch
import transformers
pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "warm", "dull", "film", "s", "##s"]
Path("vocab.txt").write_text("\\n".join(pieces))
tokenizer = transformers.BertTokenizerFast(vocab="vocab.txt", model_max_length=16)
network = transformers.BertForSequenceClassification(transformers.BertConfig(
    vocab_size=len(pieces), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
    max_position_embeddings=16)).eval()
module = torch.nn.Linear(2, 2)
def encode(texts):
    return torch.tensor([[float(len(text)), float(text.count(" "))] for text in texts])
"""
PRECISION = """
model = verax.as_model(network, tokenizer=tokenizer, reference=["a warm film", "a dull film"] * 4)
"""
ROWS = """
rows, other_rows = frame.to_numpy(float)[:30], frame.to_numpy(float)[30:]
labels, other_labels = np.arange(30) % 2, np.arange(10) % 2
"""
MANY = """
labels = data.train.labels
weights = np.ones(len(labels))
"""
OWN = """
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.svm import LinearSVC
"""
ANSWERS = """
import numpy as np
import pandas as pd
rng = np.random.default_rng(0)
people, items = np.divmod(np.arange(24 * 20), 20)
before, after = (rng.random((2, 480)) < [[0.6], [0.7]]).astype(int)
pd.DataFrame({
    "participant": people, "item": items, "condition": np.array(["none", "lime", "shap"])[people % 3],
    "before": before, "after": after}).to_csv("answers.csv", index=False)
"""
# (page, words of a block, what runs before the first block with these words)
FITTED = """
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier
rows, labels = load_iris(as_frame=True, return_X_y=True)
model = DecisionTreeClassifier(random_state=0).fit(rows, labels)
"""
BEFORE = [
    ("README.md", "found = verax.judge(", FITTED),
    ("docs/bots.md", "run_bots", SERVED),
    ("docs/explainers.md", "explainer.explain(model, inputs", LITTLE + "inputs = data.test.inputs[:2]"),
    ("docs/explainers.md", "check_sanity(", "texts = data.test.inputs[:3]"),
    ("docs/language-models.md", "unpacked_weights", "import tiny_language\ntiny_language.share_smollm2()"),
    (
        "docs/models.md",
        "model.kind",
        LITTLE + "inputs = texts = data.train.inputs\nlabels = data.train.labels",
    ),
    ("docs/models.md", "frame[columns]", PEOPLE),
    ("docs/models.md", "tokenizer=tokenizer", BERT),
    ("docs/how-to/hugging-face.md", "tokenizer=tokenizer", BERT),
    ("docs/how-to/re-analyse.md", "read_csv(", ANSWERS),
    ("docs/models.md", "in_precision(", PRECISION),
    ("docs/models.md", "predict_rows", 'frame = frame[["age", "grade"]]'),
    ("docs/models.md", "MlpClassifier(", ROWS),
    ("docs/models.md", "glove", 'data = verax.load_dataset("rotten-tomatoes", limit=150)'),
    ("docs/models.md", "fit_classifier(", MANY),
    ("docs/models.md", "neighbours", "from sklearn.neighbors import KNeighborsClassifier"),
    ("docs/models.md", "def load(", OWN),
]
SMALLER = {
    "docs/judge.md": [("seconds=60", "seconds=10, n=3")],
    "docs/how-to/choose-an-explainer.md": [("seconds=60", "seconds=5, n=3")],
    "docs/how-to/hugging-face.md": [("seconds=30", "seconds=5"), ("samples=500", "samples=50")],
    "docs/how-to/neighbours.md": [("seconds=30", "seconds=5"), ("range(100)", "range(20)")],
    "docs/how-to/lime-and-shap-disagree.md": [("seconds=60", "seconds=10, n=3")],
    "docs/how-to/better-than-shap.md": [
        ("stains=20", "stains=1, inputs=2, learnt=0.0"),
        ("seconds=60", "seconds=10"),
        ("samples=500", "samples=50"),
        ("inputs[:10]", "inputs[:2]"),
    ],
    "docs/bots.md": [(", 40, seed=1", ", 3, seed=1"), ('"http://127.0.0.1:8000"', "address")],
    "docs/planning.md": [
        ("(10, 20, 40)", "(10, 20)"),
        ("(16, 32)", "(16,)"),
        ("effect=8", "effect=8, studies=2"),
        ("studies=60", "studies=1"),
    ],
    "docs/rationale.md": [
        (
            "target_models=3",
            "target_models=1, inputs=12, samples=30, epochs=4, share=0.25, limit=600, subsets=2",
        )
    ],
    "docs/counterfactuals.md": [('"boring"', '"film"')],  # few words are frequent enough here
    "docs/running.md": [("workers=4", "workers=1"), ("range(100)", "range(10)")],
    "docs/models.md": [("range(10)", "range(2)"), ("epochs=8", "epochs=1"), ('"epochs": 8', '"epochs": 1')],
    "docs/explainers.md": [('fit_model("cnn"', 'fit_model("cnn(epochs=2)"')],
}
