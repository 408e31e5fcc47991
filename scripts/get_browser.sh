#!/bin/sh
# Gets the Chromium that browser tests drive. Never fails: without one those tests say so themselves.
# Usage: get_browser.sh PLAYWRIGHT, the path of Playwright's command.
set -u
playwright=$1

have_chromium() { command -v chromium >/dev/null 2>&1; }

install_debian_chromium() {
    # A package source that does not answer must not stop the others: the second command decides. Another installation
    # that is under way is waited for.
    DEBIAN_FRONTEND=noninteractive apt-get update -qq -o DPkg::Lock::Timeout=300
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 chromium
}

have_chromium && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "No chromium is installed: getting Debian's."
    install_debian_chromium >/dev/null && have_chromium && exit 0
fi
"$playwright" install --only-shell chromium >/dev/null 2>&1 && exit 0
echo "No Chromium could be installed, so browser tests cannot run; '$playwright install chromium' says why."
