import {mkdir, readFile, realpath, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {ifPresent} from '../../../../../../src/base/fs/files.js';
import {systemMounter} from '../../../../../../src/kubelet/managers/volumes/mounter.js';
import type {ApiObjects} from '../../../../../../src/kubelet/contract/api-objects.js';
import {FlexDrivers} from '../../../../../../src/kubelet/managers/volumes/plugins/flex/flex-drivers.js';
import type {VolumeHost} from '../../../../../../src/kubelet/managers/volumes/plugins/volume-plugin.js';
import {removePodDir} from '../../../../../../src/kubelet/managers/volumes/remove-pod-dir.js';
import {temporaryDirectory} from '../../../../../base/temporary-directory.js';
import {aNode} from '../../claim-fixtures.js';
import {aHost} from '../../volume-fixtures.js';
import {putDriver, SEPARATOR} from './flex-scripts.js';

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
      await putDriver(executable(name), text);
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
