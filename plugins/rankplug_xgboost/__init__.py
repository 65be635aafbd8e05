"""Gradient-boosted trees and linear models by XGBoost."""
