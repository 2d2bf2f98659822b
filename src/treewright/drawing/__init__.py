"""Drawings of trees and plots of results: SVG, HTML, PDF, PNG, terminal."""
