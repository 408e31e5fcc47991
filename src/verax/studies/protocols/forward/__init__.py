"""Forward simulation: do explanations of some inputs help people to predict the model on others?"""
