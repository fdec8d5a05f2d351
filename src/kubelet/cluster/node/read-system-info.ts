import {readFile} from 'node:fs/promises';
import type {NodeSystemInfo} from '../../../api/types/v1-node.js';
import {bootId} from '../../../base/boot-id.js';
import {ifPresent} from '../../../base/fs/files.js';
import type {RuntimeService} from '../../../cri/index.js';
import type {NodeFacts} from '../../contract/node-facts.js';

/** Version of the Kubernetes API and behavior that kcri implements; the control plane checks the version skew by it. */
const KUBERNETES_VERSION = 'v1.36.2';

/** Reads the identity and the versions of the node. Rejects with CriError. */
export async function readSystemInfo(
  runtime: Pick<RuntimeService, 'version'>,
  node: Pick<NodeFacts, 'kernelRelease' | 'labels'>,
  kcriVersion: string,
  signal: AbortSignal,
): Promise<NodeSystemInfo> {
  const [{runtimeName, runtimeVersion}, machineId, systemUuid, osRelease] = await Promise.all([
    runtime.version({version: '0.1.0'}, {signal}),
    readOptional('/etc/machine-id'),
    readOptional('/sys/class/dmi/id/product_uuid'),
    readOptional('/etc/os-release'),
  ]);
  return {
    machineID: machineId,
    systemUUID: systemUuid === '' ? machineId : systemUuid,
    bootID: bootId(),
    kernelVersion: node.kernelRelease,
    osImage: osImageOf(osRelease),
    containerRuntimeVersion: `${runtimeName}://${runtimeVersion}`,
    kubeletVersion: `${KUBERNETES_VERSION}+kcri.${kcriVersion}`,
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: node.labels['kubernetes.io/arch'] ?? '',
  };
}

async function readOptional(path: string): Promise<string> {
  return ((await ifPresent(async () => await readFile(path, 'utf8'))) ?? '').trim();
}

/** Returns PRETTY_NAME of os-release. */
export function osImageOf(osRelease: string): string {
  return /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(osRelease)?.[1] ?? '';
}
