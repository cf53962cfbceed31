"""The book finds its repository in every kind of clone, and nothing private leaves one."""

import pytest
from repository import Repository, find, find_base, web_address

GITHUB = Repository("https://github.com/Reader/book.py", "main")


@pytest.mark.parametrize(
    "remote, address",
    {
        "https://github.com/reader/book": "https://github.com/reader/book",
        "https://github.com/reader/book.git": "https://github.com/reader/book",
        "https://github.com/reader/book.git/": "https://github.com/reader/book",
        "https://GitHub.com/Reader/Book/": "https://github.com/Reader/Book",
        "https://www.github.com/reader/book": "https://github.com/reader/book",
        "https://reader:secret@github.com/reader/book.git": "https://github.com/reader/book",
        "https://ghp_secret@github.com/reader/book": "https://github.com/reader/book",
        "https://github.com/reader/book?token=secret": "https://github.com/reader/book",
        "https://github.com/reader/.github": "https://github.com/reader/.github",
        "git@github.com:reader/book.git": "https://github.com/reader/book",
        "github.com:reader/book": "https://github.com/reader/book",
        "org-123@github.com:/reader/book.git": "https://github.com/reader/book",
        "ssh://git@github.com/reader/book.git": "https://github.com/reader/book",
        "ssh://git:secret@ssh.github.com:443/reader/book.git": "https://github.com/reader/book",
        "git://github.com/reader/book.git": "https://github.com/reader/book",
        "git@gitlab.com:group/team/book.git": "https://gitlab.com/group/team/book",
        "https://oauth2:secret@gitlab.example.org:8443/a/b.git": "https://gitlab.example.org:8443/a/b",
        "ssh://git@code.example.org:2222/a/b.git": "https://code.example.org/a/b",
        "https://git.sr.ht/~reader/book": "https://git.sr.ht/~reader/book",
        "http://git.example.org/a/b": "http://git.example.org/a/b",
        " https://github.com/reader/book\n": "https://github.com/reader/book",
    }.items(),
)
def test_a_remote_becomes_the_address_a_reader_opens(remote, address):
    assert web_address(remote) == address


@pytest.mark.parametrize(
    "remote",
    [
        "",
        "/srv/git/book.git",
        "../book",
        "./a/b",
        "file:///srv/git/reader/book.git",
        "C:\\books\\reader\\book",
        "C:/books/reader/book",
        "http://localhost:3000/reader/book",
        "http://127.0.0.1:3000/reader/book",
        "http://[::1]:3000/reader/book",
        "git@192.168.1.5:reader/book.git",
        "git@8.8.8.8:reader/book.git",
        "git@myserver:reader/book.git",
        "https://git.office.internal/reader/book",
        "ssh://git@nas.local/reader/book",
        "https://github.com/reader",
        "https://github.com/",
        "https://gitlab.com/reader",
        "https://github.com/reader/book/tree/main",
        "https://github.com/reader/../book",
        "https://github.com/reader/<script>",
        'https://github.com/reader/"book',
        "https://git_hub.com/reader/book",
        "https://github.com:port/reader/book",
        "https://[github.com/reader/book",
        "ext::sh -c whoami reader/book",
        "javascript://github.com/reader/book",
        "OWNER/NAME",
    ],
)
def test_what_is_no_public_place_counts_as_none(remote):
    assert web_address(remote) is None


def test_a_fork_finds_itself(clone, push):
    book = clone("git@github.com:someone-else/their-book.git")
    push(book, "main")
    assert find(book, {}) == (
        Repository("https://github.com/someone-else/their-book", "main"),
        "from the git remote origin",
    )


def test_credentials_are_left_behind(clone):
    book = clone("https://reader:ghp_secret@github.com/reader/book.git")
    assert "secret" not in repr(find(book, {}))


@pytest.mark.parametrize("secret", ["https://me:hunter2@localhost/a/b", "https://me:hunter2@github.com/a"])
def test_a_refused_address_is_not_repeated(clone, secret):
    book = clone(secret)
    assert "hunter2" not in repr(find(book, {}))
    with pytest.raises(ValueError) as error:
        find(book, {"BOOK_REPOSITORY": secret})
    assert "hunter2" not in str(error.value)


def test_no_remote_is_none(clone):
    assert find(clone(None), {}) == (None, "git has no remote called origin")


def test_a_local_remote_is_none(clone):
    assert find(clone("/srv/git/book.git"), {}) == (None, "the git remote origin is no public address")


def test_no_git_repository_is_none(tmp_path):
    assert find(tmp_path, {}) == (None, "git reads no repository here")


def test_no_git_program_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find(tmp_path, {}) == (None, "git reads no repository here")


def test_a_copy_unpacked_inside_another_repository_is_not_that_repository(clone):
    inner = clone("https://github.com/reader/notes") / "downloads" / "book"
    inner.mkdir(parents=True)
    (inner / "_config.yml").write_text("title: a book\n", "utf8")
    assert find(inner, {}) == (None, "git does not track the book here")


def test_a_book_in_a_folder_of_a_repository_knows_the_folder(clone):
    repository, _ = find(clone("https://github.com/reader/course", folder="week 1/book"), {})
    assert repository.folder == "week 1/book/"
    assert repository.edit("index.md").endswith("/edit/HEAD/week%201/book/index.md")
    assert repository.binder("a.ipynb").endswith("?urlpath=lab%2Ftree%2Fweek%201%2Fbook%2Fa.ipynb")
    assert repository.requirement().endswith("/archive/HEAD.zip#subdirectory=week%201/book")


def test_the_environment_comes_before_git(clone):
    book = clone("https://github.com/reader/book")
    given = {"BOOK_REPOSITORY": "git@github.com:other/copy.git", "BOOK_BRANCH": "draft"}
    assert find(book, given) == (Repository("https://github.com/other/copy", "draft"), "from BOOK_REPOSITORY")


def test_the_environment_can_say_none(clone):
    assert find(clone("https://github.com/reader/book"), {"BOOK_REPOSITORY": ""}) == (None, "BOOK_REPOSITORY is empty")


@pytest.mark.parametrize("given", ["reader/book", "/srv/book", "http://localhost/a/b", "github.com/reader/book"])
def test_an_environment_that_cannot_be_read_is_an_error_with_a_hint(tmp_path, given):
    with pytest.raises(ValueError, match="BOOK_REPOSITORY .* such as https://github.com/OWNER/NAME"):
        find(tmp_path, {"BOOK_REPOSITORY": given})


def test_the_branch_is_the_one_at_work_if_it_was_pushed(clone, push):
    book = clone("https://github.com/reader/book", branch="better-figures")
    push(book, "better-figures")
    assert find(book, {})[0].branch == "better-figures"


def test_the_branch_of_unpushed_work_is_the_main_one(clone, push):
    book = clone("https://github.com/reader/book", branch="better-figures")
    push(book, "trunk", main="trunk")
    assert find(book, {})[0].branch == "trunk"


def test_the_branch_of_a_detached_head_is_the_main_one(clone, git, push):
    book = clone("https://github.com/reader/book")
    push(book, "trunk", main="trunk")
    git(book, "checkout", "--quiet", "--detach")
    assert find(book, {})[0].branch == "trunk"


def test_a_detached_head_that_knows_no_branch_is_head(clone, git):
    """So a continuous integration checks a pull request out; GitHub, GitLab and Binder read HEAD as the main branch."""
    book = clone("https://github.com/reader/book")
    git(book, "checkout", "--quiet", "--detach")
    assert find(book, {})[0].branch == "HEAD"


@pytest.mark.parametrize(
    "url, address",
    {
        "https://github.com/reader/book.py": "https://github.com/reader/book.py/edit/main/chapters/02.ipynb",
        "https://github.example.org/a/b": "https://github.example.org/a/b/edit/main/chapters/02.ipynb",
        "https://gitlab.com/a/b/c": "https://gitlab.com/a/b/c/-/edit/main/chapters/02.ipynb",
        "https://bitbucket.org/a/b": "https://bitbucket.org/a/b/src/main/chapters/02.ipynb?mode=edit",
        "https://codeberg.org/a/b": "https://codeberg.org/a/b/_edit/main/chapters/02.ipynb",
        "https://git.example.org/a/b": "",
    }.items(),
)
def test_edit_links(url, address):
    assert Repository(url, "main").edit("chapters/02.ipynb") == address


@pytest.mark.parametrize(
    "url, place",
    {
        "https://github.com/reader/book.py": "gh/reader/book.py",
        "https://gitlab.com/a/b/c": "gl/a%2Fb%2Fc",
        "https://git.example.org/a/b": "git/https%3A%2F%2Fgit.example.org%2Fa%2Fb",
    }.items(),
)
def test_binder_opens_jupyterlab_at_the_chapter(url, place):
    lab = "urlpath=lab%2Ftree%2Fchapters%2F02.ipynb"
    assert Repository(url, "main").binder("chapters/02.ipynb") == f"https://mybinder.org/v2/{place}/main?{lab}"


def test_colab_opens_the_copy_that_installs_the_library_and_reads_github_only():
    colab = "https://colab.research.google.com/github/Reader/book.py/blob/colab/chapters/02.ipynb"
    assert GITHUB.colab("chapters/02.ipynb") == colab
    assert Repository("https://gitlab.com/a/b", "main").colab("chapters/02.ipynb") == ""
    assert Repository("https://github.example.org/a/b", "main").colab("chapters/02.ipynb") == ""


@pytest.mark.parametrize(
    "url, base",
    {
        "https://github.com/Reader/Book.py": "https://reader.github.io/Book.py/",
        "https://github.com/Reader/reader.github.io": "https://reader.github.io/",
        "https://gitlab.com/a/b": "",
    }.items(),
)
def test_the_address_of_the_pages_follows_from_the_repository(url, base):
    assert find_base(Repository(url, "main"), {}) == base


@pytest.mark.parametrize(
    "given, base",
    {
        "https://book.example.org": "https://book.example.org/",
        "https://book.example.org/a/b//": "https://book.example.org/a/b/",
        "http://127.0.0.1:8000/book/": "http://127.0.0.1:8000/book/",
        "": "",
    }.items(),
)
def test_the_environment_can_name_the_address_of_the_pages(given, base):
    assert find_base(GITHUB, {"BOOK_URL": given}) == base
    assert find_base(None, {"BOOK_URL": given}) == base


@pytest.mark.parametrize(
    "given", ["book.example.org", "ftp://a.org/", "https://me:hunter2@a.org/", "https://a.org/?x", 'https://a.org/"']
)
def test_an_address_that_cannot_be_read_is_an_error_that_does_not_repeat_it(given):
    with pytest.raises(ValueError, match="such as https://OWNER.github.io/NAME/") as error:
        find_base(None, {"BOOK_URL": given})
    assert "hunter2" not in str(error.value)


def test_where_nothing_is_known_the_pages_have_no_address():
    assert find_base(None, {}) == ""
