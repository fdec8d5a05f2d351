import {chmod, mkdir, readFile, realpath, rename, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {ifPresent} from '../../../../../../src/base/fs/files.js';
import {systemMounter} from '../../../../../../src/kubelet/managers/volumes/mounter.js';
import type {ApiObjects} from '../../../../../../src/kubelet/contract/api-objects.js';
import {FlexDrivers} from '../../../../../../src/kubelet/managers/volumes/plugins/flex/flex-drivers.js';
import type {VolumeHost} from '../../../../../../src/kubelet/managers/volumes/plugins/volume-plugin.js';
import {removePodDir} from '../../../../../../src/kubelet/managers/volumes/remove-pod-dir.js';
import {temporaryDirectory} from '../../../../../base/temporary-directory.js';
import {aNode} from '../../claim-fixtures.js';
import {aHost} from '../../volume-fixtures.js';

/** Separates the arguments of a call in the log of a driver. */
const SEPARATOR = '\u001f';

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

/** A node with a directory of FlexVolume drivers. */
export interface FlexNode {
  readonly host: VolumeHost;
  readonly rootDir: string;
  /** Returns the path of the executable of a driver. */
  executable(name: string): string;
  /** Installs a driver, in place of an earlier one of that name. */
  install(name: string, script: string): Promise<void>;
  /** Returns the calls of a driver since the last time, in which `ROOT` stands for the root directory. */
  calls(name?: string): Promise<readonly (readonly string[])[]>;
  /** Removes a pod with its volumes, in a process that knows no driver yet unless `flex` is given. */
  remove(uid: string, flex?: FlexDrivers): Promise<void>;
  /** Returns what is mounted below the root directory. */
  mounts(): Promise<readonly string[]>;
  /** Returns the node as another process sees it, which knows no driver yet. */
  restart(): VolumeHost;
}

/** Name of the driver of the tests. */
export const BOX = 'example.com/box';

/** Creates a node with the driver {@link BOX}, if a script is given. */
export async function aFlexNode(script?: string, objects?: ApiObjects): Promise<FlexNode> {
  const facts = await aNode();
  await mkdir(facts.rootDir, {recursive: true});
  const rootDir = await realpath(facts.rootDir);
  const volumePluginDir = await realpath(await temporaryDirectory());
  const executable = (name: string): string =>
    join(volumePluginDir, name.replaceAll('/', '~'), name.slice(name.lastIndexOf('/') + 1));
  const restart = (): VolumeHost => ({
    ...aHost({...facts, rootDir, volumePluginDir}, objects),
    flex: new FlexDrivers(),
  });
  const host = restart();
  const node: FlexNode = {
    ...{host, rootDir, executable, restart},
    install: async (name, text) => {
      const path = executable(name);
      await mkdir(dirname(path), {recursive: true});
      await writeFile(`${path}.new`, text);
      await chmod(`${path}.new`, 0o755);
      await rename(`${path}.new`, path);
    },
    calls: async (name = BOX) => {
      const path = `${executable(name)}.calls`;
      const text = (await ifPresent(() => readFile(path, 'utf8'))) ?? '';
      await writeFile(path, '');
      const lines = text.replaceAll(rootDir, 'ROOT').split('\n').slice(0, -1);
      return lines.map((line) => line.split(SEPARATOR).slice(0, -1));
    },
    remove: async (uid, flex = new FlexDrivers()) => {
      await removePodDir(host.node, uid, {flex});
    },
    mounts: async () =>
      (await systemMounter.list())
        .filter(({path}) => path.startsWith(`${rootDir}/`))
        .map(({path}) => path.slice(rootDir.length + 1)),
  };
  if (script !== undefined) await node.install(BOX, script);
  return node;
}
