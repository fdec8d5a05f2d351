import {readFile} from 'node:fs/promises';

/** Returns the shell functions of scripts. */
async function functions(...names) {
  const texts = names.map((name) => readFile(new URL(`${name}.sh`, import.meta.url), 'utf8'));
  return (await Promise.all(texts)).join('\n');
}

const COMMON = await functions('common');
const AFTER_UPGRADE = await functions('common', 'after-upgrade');
const BEFORE_REMOVAL = await functions('common', 'before-removal');

/** The scripts of a Debian package by name. Their arguments are dpkg's. */
export const DEBIAN_SCRIPTS = {
  postinst: debianScript(
    AFTER_UPGRADE,
    `case "$1" in
configure) if [ -n "$2" ]; then after_upgrade; else reload_units; fi ;;
esac`,
  ),
  prerm: debianScript(
    BEFORE_REMOVAL,
    `case "$1" in
remove) before_removal ;;
esac`,
  ),
  postrm: debianScript(
    COMMON,
    `case "$1" in
remove) reload_units ;;
purge) if [ -d /var/lib/kcri ]; then say 'the data of its pods remains in /var/lib/kcri'; fi ;;
esac`,
  ),
};

/** The scripts of an rpm package by section. The argument is the number of versions that will be installed. */
export const RPM_SCRIPTS = {
  post: script(AFTER_UPGRADE, 'if [ "$1" -gt 1 ]; then after_upgrade; else reload_units; fi'),
  preun: script(BEFORE_REMOVAL, 'if [ "$1" -eq 0 ]; then before_removal; fi'),
  postun: script(COMMON, 'if [ "$1" -eq 0 ]; then reload_units; fi'),
};

function debianScript(given, body) {
  return `#!/bin/sh\n${script(given, body)}`;
}

function script(given, body) {
  return `set -e\n\n${given}\n${body}\n`;
}
