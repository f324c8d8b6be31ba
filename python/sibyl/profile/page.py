def to_html(profile):
    return ""
