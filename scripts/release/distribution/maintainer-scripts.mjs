import {readFile} from 'node:fs/promises';

const FUNCTIONS = await readFile(new URL('functions.sh', import.meta.url), 'utf8');

/** What is done for each event, in the words of dpkg's and rpm's arguments of scripts. */
const DEBIAN = {
  postinst: `case "$1" in
configure) if [ -n "$2" ]; then after_upgrade; else reload_units; fi ;;
esac`,
  prerm: `case "$1" in
remove) before_removal ;;
esac`,
  postrm: `case "$1" in
remove) reload_units ;;
purge) if [ -d /var/lib/kcri ]; then say 'the data of its pods remains in /var/lib/kcri'; fi ;;
esac`,
};

const RPM = {
  post: 'if [ "$1" -gt 1 ]; then after_upgrade; else reload_units; fi',
  preun: 'if [ "$1" -eq 0 ]; then before_removal; fi',
  postun: 'if [ "$1" -eq 0 ]; then reload_units; fi',
};

/** The scripts of a Debian package by name. */
export const DEBIAN_SCRIPTS = mapValues(DEBIAN, (body) => `#!/bin/sh\nset -e\n\n${FUNCTIONS}\n${body}\n`);

/** The scripts of an rpm package by section; rpm runs them with /bin/sh. */
export const RPM_SCRIPTS = mapValues(RPM, (body) => `set -e\n${FUNCTIONS}\n${body}\n`);

function mapValues(values, change) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}
