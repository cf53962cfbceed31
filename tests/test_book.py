"""The book builds from the stored outputs, and the build that fails is seen to fail."""


def test_the_book_builds_without_a_warning(book):
    assert (book / "index.html").is_file()
