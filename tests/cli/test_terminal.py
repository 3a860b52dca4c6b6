from handloom.cli.terminal import plain


def test_nothing_in_a_text_can_take_the_terminal_over():
    assert plain("a\tb\nWürfel 方块") == "a\tb\nWürfel 方块"
    assert plain("\x1b[2J\x07\r\x00") == "\\x1b[2J\\x07\\r\\x00"
    assert plain("\u202eabc\udcff\x9b") == "\\u202eabc\\udcff\\x9b"
