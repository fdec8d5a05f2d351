import {chmod, mkdir, rename, writeFile} from 'node:fs/promises';
import {dirname} from 'node:path';

/** Separates the arguments of a call in the log of a driver. */
export const SEPARATOR = '\u001f';

/** Text of a driver, in which CASES are the branches of its calls, that writes its arguments to a file beside it. */
export function driverScript(cases: string): string {
  return `#!/bin/sh
{ printf '%s${String.raw`\037`}' "$@"; echo; } >>"$0.calls"
ok() { echo '{"status": "Success"}'; }
case "$1" in
${cases}
*) echo '{"status": "Not supported"}'; exit 1 ;;
esac
`;
}

/** A driver that mounts a tmpfs for each pod. */
export const TMPFS_DRIVER = driverScript(`
init) echo '{"status": "Success", "capabilities": {"attach": false}}' ;;
mount) mount -t tmpfs tmpfs "$2" && ok ;;
unmount) umount "$2" && ok ;;`);

/** A driver that attaches volumes, mounts a tmpfs for all pods, and leaves the rest to the node. */
export const ATTACHING_DRIVER = driverScript(`
init) ok ;;
attach | waitforattach) echo '{"status": "Success", "device": "/dev/null"}' ;;
mountdevice) mount -t tmpfs tmpfs "$2" && ok ;;
unmountdevice) umount "$2" && ok ;;
detach) ok ;;`);

/** A driver that mounts a tmpfs for each pod, which it can enlarge, and whose usage is that of the volume. */
export const GROWING_DRIVER = driverScript(`
init) echo '{"status": "Success", "capabilities": {"attach": false, "supportsMetrics": true}}' ;;
mount) mount -t tmpfs tmpfs "$2" && ok ;;
expandfs) ok ;;
unmount) umount "$2" && ok ;;`);

/** Installs a driver as a file, in place of an earlier one. */
export async function putDriver(path: string, script: string): Promise<void> {
  await mkdir(dirname(path), {recursive: true});
  await writeFile(`${path}.new`, script);
  await chmod(`${path}.new`, 0o755);
  await rename(`${path}.new`, path);
}
