"""What the pages share: state and address, navigation, caches, lists. All that touches Streamlit besides the pages."""
