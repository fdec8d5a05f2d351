import {readFile} from 'node:fs/promises';
import type {NodeSystemInfo} from '../../../api/types/v1-node.js';
import {ifPresent} from '../../../base/fs/files.js';
import {readMachineIds} from '../../../base/host/machine-ids.js';
import {readOsImage} from '../../../base/host/os-release.js';
import type {RuntimeService} from '../../../cri/index.js';
import {kubeletVersion} from '../../contract/kubelet-version.js';
import type {NodeFacts} from '../../contract/node-facts.js';

/** Reads the identity and the versions of the node. Rejects with CriError. */
export async function readSystemInfo(
  runtime: Pick<RuntimeService, 'version'>,
  node: Pick<NodeFacts, 'kernelRelease' | 'labels'>,
  kcriVersion: string,
  signal: AbortSignal,
): Promise<NodeSystemInfo> {
  const [{runtimeName, runtimeVersion}, ids, osImage, memory] = await Promise.all([
    runtime.version({version: '0.1.0'}, {signal}),
    readMachineIds(),
    readOsImage(),
    ifPresent(async () => await readFile('/proc/meminfo', 'utf8')),
  ]);
  return {
    machineID: ids.machineId,
    systemUUID: ids.systemUuid,
    bootID: ids.bootId,
    kernelVersion: node.kernelRelease,
    osImage,
    containerRuntimeVersion: `${runtimeName}://${runtimeVersion}`,
    kubeletVersion: kubeletVersion(kcriVersion),
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: node.labels['kubernetes.io/arch'] ?? '',
    ...swapOf(memory ?? ''),
  };
}

/** Returns the swap of /proc/meminfo; nothing for a node without swap. */
export function swapOf(memory: string): Pick<NodeSystemInfo, 'swap'> {
  const kibibytes = Number(/^SwapTotal:\s+(\d+) kB$/m.exec(memory)?.[1] ?? 0);
  return kibibytes === 0 ? {} : {swap: {capacity: kibibytes * 1024}};
}
