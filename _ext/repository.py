"""Find the book's repository and the address of its pages, and make every address that follows from them.

A fork needs no edit: what names the repository is taken from the environment, else from git.

- ``BOOK_REPOSITORY``: the repository's address; else the git remote ``origin``. Empty: none.
- ``BOOK_BRANCH``: the branch that the buttons open; else the one that is checked out, if it was pushed.
- ``BOOK_URL``: the address of the built pages; else GitHub Pages' address for the repository. Empty: none.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

COLAB_BRANCH = "colab"  # holds the copies that Colab opens: .github/workflows/publish.yml pushes them
SAME = {  # names of one host
    "www.github.com": "github.com",
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
# Names that mean something inside one network only, and names that are reserved for examples.
PRIVATE = {"localhost", "local", "internal", "intranet", "lan", "home", "corp", "arpa", "test", "example", "invalid"}


@dataclass(frozen=True)
class Repository:
    """A public repository; `url` has no user name, password or ``.git``."""

    url: str
    branch: str
    folder: str = ""  # where the book is inside it: "" or a path that ends in "/"

    @property
    def host(self):
        return urlsplit(self.url).hostname

    @property
    def path(self):
        return urlsplit(self.url).path.strip("/")

    def pages(self):
        """Return the address that GitHub Pages gives the repository; elsewhere there is no such rule."""
        if self.host != "github.com":
            return ""
        owner, name = self.path.split("/")
        site = f"{owner.lower()}.github.io"
        return f"https://{site}/" if name.lower() == site else f"https://{site}/{quote(name)}/"

    def edit(self, file):
        """Return where a reader can edit a file of the book, or "" where the host's form is not known."""
        branch, file = quote(self.branch), quote(self.folder + file)
        if self.host == "codeberg.org":
            return f"{self.url}/_edit/{branch}/{file}"
        if self.host == "bitbucket.org":
            return f"{self.url}/src/{branch}/{file}?mode=edit"
        if "gitlab" in self.host:
            return f"{self.url}/-/edit/{branch}/{file}"
        if "github" in self.host:
            return f"{self.url}/edit/{branch}/{file}"
        return ""

    def binder(self, file):
        """Return the address that opens a file of the book in JupyterLab on Binder."""
        if self.host == "github.com":
            place = f"gh/{self.path}"
        elif self.host == "gitlab.com":
            place = f"gl/{quote(self.path, safe='')}"
        else:
            place = f"git/{quote(self.url, safe='')}"
        lab = quote(f"lab/tree/{self.folder}{file}", safe="")
        return f"https://mybinder.org/v2/{place}/{quote(self.branch)}?urlpath={lab}"

    def colab(self, file):
        """Return the address that opens a file of the book in Colab, which reads from GitHub alone, or ""."""
        if self.host != "github.com":
            return ""
        return f"https://colab.research.google.com/github/{self.path}/blob/{COLAB_BRANCH}/{quote(file)}"

    def requirement(self):
        """Return what pip installs the library from."""
        if self.host == "github.com":  # an archive is smaller than a clone, and needs no git
            address = f"{self.url}/archive/{quote(self.branch)}.zip"
        else:
            address = f"git+{self.url}@{quote(self.branch)}"
        folder = f"#subdirectory={quote(self.folder.strip('/'))}" if self.folder else ""
        return f"attention-lib[plot,explore] @ {address}{folder}"


def find(root, environ=os.environ):
    """Return the repository of the book in `root`, or None, and in words where the answer comes from."""
    given = environ.get("BOOK_REPOSITORY")
    if given == "":
        return None, "BOOK_REPOSITORY is empty"
    if given:
        url = web_address(given)
        if not url:
            raise ValueError("BOOK_REPOSITORY is no public address such as https://github.com/OWNER/NAME")
        source = "from BOOK_REPOSITORY"
    else:
        if not git(root, "rev-parse", "--git-dir"):
            return None, "git reads no repository here"
        if not git(root, "ls-files", "_config.yml"):
            return None, "git does not track the book here"  # unpacked inside some other repository
        remote = git(root, "config", "remote.origin.url")
        if not remote:
            return None, "git has no remote called origin"
        url = web_address(remote)
        if not url:
            return None, "the git remote origin is no public address"
        source = "from the git remote origin"
    folder = git(root, "rev-parse", "--show-prefix") if git(root, "ls-files", "_config.yml") else ""
    return Repository(url, environ.get("BOOK_BRANCH") or find_branch(root), folder), source


def find_branch(root):
    """Return the branch to link to: one that origin has, else HEAD, which every host reads as its main branch."""
    current = git(root, "symbolic-ref", "--short", "HEAD")  # "" when detached
    if current and git(root, "rev-parse", "--verify", f"refs/remotes/origin/{current}"):
        return current
    main = git(root, "symbolic-ref", "--short", "refs/remotes/origin/HEAD")
    return main.removeprefix("origin/") or "HEAD"


def find_base(repository, environ=os.environ):
    """Return the address of the built pages, with a slash at its end, or "" where it is not known."""
    given = environ.get("BOOK_URL")
    if given is None:
        return repository.pages() if repository else ""
    if given and not re.fullmatch(r"https?://[\w.-]+(:\d+)?(/[\w.~%+-]+)*/*", given):
        raise ValueError("BOOK_URL is no address such as https://OWNER.github.io/NAME/")
    return given and given.rstrip("/") + "/"


def web_address(remote):
    """Return a git remote as the address a reader opens, or None where it is no public place.

    A user name, a password or a token in it is left behind.
    """
    try:
        scheme, host, port, path = split(remote.strip())
    except ValueError:  # a port that is no number, brackets that do not close
        return None
    host = SAME.get(host, host)
    labels = host.split(".")
    names = re.sub(r"(\.git)?/*$", "", path.strip("/")).split("/")
    public = len(labels) > 1 and not labels[-1].isdigit() and labels[-1] not in PRIVATE
    if scheme not in {"http", "https", "ssh", "git", "git+ssh"} or not public or len(names) < 2:
        return None
    if not all(re.fullmatch(r"[a-z0-9-]+", label) for label in labels):
        return None
    if not all(re.fullmatch(r"~?\w[\w.+-]*|\.[\w.-]*\w", name, re.ASCII) for name in names):
        return None
    if host == "github.com" and len(names) != 2:
        return None
    if scheme != "http":
        scheme = "https"
    return f"{scheme}://{host}{port}/{'/'.join(names)}"


def split(remote):
    """Return scheme, host, ":port" of a web address, and path of a git remote."""
    if "://" in remote:
        parts = urlsplit(remote)
        web = parts.scheme in {"http", "https"}  # the port of ssh is not the web server's
        return parts.scheme, parts.hostname or "", f":{parts.port}" if web and parts.port else "", parts.path
    scp = re.fullmatch(r"(?:[^@/]*@)?([^@:/]+):(.*)", remote)  # git@host:owner/name
    return ("ssh", scp[1].lower(), "", scp[2]) if scp else ("", "", "", "")


def git(root, *arguments):
    """Return what git says, or "" where there is no git or it refuses."""
    try:
        done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
