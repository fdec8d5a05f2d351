import {readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import type {PodStatus} from '../../../../src/api/types/v1-status.js';
import {readKubeletConfig} from '../../../../src/kubelet/configuration/kubelet-config.js';
import type {ConfigValues} from '../../../../src/kubelet/configuration/fields-and-defaults/kubelet-config-defaults.js';
import {createNodePolicies} from '../../../../src/kubelet/configuration/node-policies.js';
import {podRef} from '../../../../src/kubelet/contract/pod-ref.js';
import type {ShutdownPeriod} from '../../../../src/kubelet/contract/resources/shutdown-policy.js';
import {
  groupByPriority,
  requestedSeconds,
  shutdownGraceSeconds,
} from '../../../../src/kubelet/managers/shutdown/shutdown-groups.js';
import {createShutdownManager} from '../../../../src/kubelet/managers/shutdown/shutdown-manager.js';
import {aRawPod} from '../../../fakes/a-pod.js';

/** A case of kubelet 1.36.2's own code; the last line of the file is about admission, see shutdown-manager.test.ts. */
interface Case {
  readonly id: string;
  readonly config: Partial<ConfigValues>;
  readonly enabled: boolean;
  readonly effective: readonly ShutdownPeriod[];
  readonly periodRequestedSeconds: number;
  readonly groups?: readonly (ShutdownPeriod & {readonly pods: readonly string[]})[];
  readonly kills?: readonly {readonly pod: string; readonly gracePeriodSeconds: number}[];
  readonly pods: readonly {
    readonly name: string;
    readonly phase: string;
    readonly priority?: number;
    readonly terminationGracePeriodSeconds?: number;
  }[];
}

const CASES = readFileSync(new URL('shutdown.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Case);

test.each(CASES.filter(({config}) => (config as unknown) !== undefined))(
  '$id groups the pods as the kubelet',
  (given) => {
    // Not read from a file: some of the cases have values that the validation refuses.
    const values = {...readKubeletConfig([], new Map()).values, ...given.config};
    const {shutdown} = createNodePolicies(values, {version: 2});
    const periods = shutdown?.periods ?? [];
    const isEnabled = createShutdownManager({shutdown, rootDir: '/r'}) !== undefined;
    expect([periods, isEnabled]).toEqual([given.effective, given.enabled]);
    expect(requestedSeconds(periods)).toBe(given.periodRequestedSeconds);
    if (!isEnabled) return;

    const groups = groupByPriority(periods, given.pods.map(podOf));
    expect(groups.map(({pods, ...period}) => ({...period, pods: pods.map(nameOf)}))).toEqual(given.groups);
    const kills = groups.flatMap((group) =>
      group.pods.map((pod) => [nameOf(pod), shutdownGraceSeconds(pod, group)]),
    );
    const expected = (given.kills ?? []).map(({pod, gracePeriodSeconds}) => [pod, gracePeriodSeconds]);
    expect(kills.toSorted()).toEqual(expected.toSorted());
  },
);

function podOf({name, phase, ...spec}: Case['pods'][number]): Pod {
  const status: PodStatus = {phase: phase as NonNullable<PodStatus['phase']>};
  return {...aRawPod(spec, {name, namespace: 'default', uid: name}), status};
}

const nameOf = (pod: Pod): string => podRef(pod).name;
