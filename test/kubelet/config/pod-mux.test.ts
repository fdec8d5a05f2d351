import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {Pod, PodSpec} from '../../../src/api/v1.js';
import type {ObjectMeta} from '../../../src/api/v1-meta.js';
import type {PodPhase, PodStatus} from '../../../src/api/v1-status.js';
import {podUid, type PodUid} from '../../../src/cri/index.js';
import {diffPods, PodMux} from '../../../src/kubelet/config/pod-mux.js';
import type {PodEvent} from '../../../src/kubelet/container/events.js';
import type {DesiredPod, PodSourceName, PodUpdate} from '../../../src/kubelet/container/pod-update.js';
import {aPod} from '../kuberuntime/builders.js';

const SEEN = 'kubernetes.io/config.seen';
const SOURCE = 'kubernetes.io/config.source';
const LATER = {source: 'file', seen: 'later'} as const;

interface Wish {
  readonly spec?: Partial<PodSpec>;
  readonly metadata?: ObjectMeta;
  readonly status?: PodStatus;
}

/** A pod whose name is its UID. */
function wanted(uid: string, {spec = {}, metadata = {}, status}: Wish = {}): DesiredPod {
  const pod: Pod = aPod(spec, {name: uid, uid, ...metadata});
  return {uid: podUid(uid), origin: `/m/${uid}.yaml`, pod: status === undefined ? pod : {...pod, status}};
}

function knowing(...pods: readonly DesiredPod[]): ReadonlyMap<PodUid, DesiredPod> {
  return diffPods(new Map(), pods, {source: 'file', seen: 'first'}).known;
}

/** `ADD a b`, without those that nothing became of. */
function changesOf(pods: ReturnType<typeof diffPods>['pods']): readonly string[] {
  return Object.entries(pods).flatMap(([op, some]) =>
    some.length === 0 ? [] : [[op, ...some.map(({uid}) => uid)].join(' ')],
  );
}

describe('of a known pod', () => {
  const deleted = '2026-05-01T12:00:00Z';
  test.each<[string, Wish, readonly string[]]>([
    ['that is the same, nothing becomes', {}, []],
    ['with another spec', {spec: {hostname: 'h'}}, ['UPDATE a']],
    ['with another label', {metadata: {labels: {x: '2'}}}, ['UPDATE a']],
    ['with another annotation', {metadata: {annotations: {note: '2'}}}, ['UPDATE a']],
    [
      'with annotations of the kubelet’s own only',
      {metadata: {annotations: {[SEEN]: 'x', [SOURCE]: 'y'}}},
      [],
    ],
    ['with another status', {status: {phase: 'Failed'}}, ['RECONCILE a']],
    ['with another spec and status', {spec: {hostname: 'h'}, status: {phase: 'Failed'}}, ['UPDATE a']],
    ['that is being deleted', {metadata: {deletionTimestamp: deleted}}, ['DELETE a']],
    ['with another generation only, nothing becomes', {metadata: {generation: 7}}, []],
  ])('%s', (_title, wish, expected) => {
    expect(changesOf(diffPods(knowing(wanted('a')), [wanted('a', wish)], LATER).pods)).toEqual(expected);
  });

  test('that loses a label and an annotation', () => {
    const known = knowing(wanted('a', {metadata: {labels: {x: '1'}, annotations: {note: '1'}}}));
    expect(changesOf(diffPods(known, [wanted('a')], LATER).pods)).toEqual(['UPDATE a']);
  });

  test('whose grace period gets shorter while it is being deleted', () => {
    const at = (seconds: number): Wish => ({
      metadata: {deletionTimestamp: deleted, deletionGracePeriodSeconds: seconds},
    });
    expect(changesOf(diffPods(knowing(wanted('a', at(30))), [wanted('a', at(1))], LATER).pods)).toEqual([
      'DELETE a',
    ]);
  });

  test('the time of the first sight stays when it changes', () => {
    const {known} = diffPods(
      knowing(wanted('a')),
      [wanted('a', {spec: {hostname: 'h'}}), wanted('b')],
      LATER,
    );
    expect([...known.values()].map(({pod}) => pod.metadata.annotations)).toEqual([
      {[SEEN]: 'first', [SOURCE]: 'file'},
      {[SEEN]: 'later', [SOURCE]: 'file'},
    ]);
  });

  test('that is not wanted any more nothing is left', () => {
    const {pods, known} = diffPods(knowing(wanted('a'), wanted('b')), [wanted('b'), wanted('c')], LATER);
    expect(changesOf(pods)).toEqual(['ADD c', 'REMOVE a']);
    expect([...known.keys()]).toEqual(['b', 'c']);
  });
});

interface Mux {
  readonly mux: PodMux;
  readonly updates: PodUpdate[];
  readonly events: PodEvent[];
  /** What has been delivered since it was last asked: `file ADD a b`. */
  readonly told: () => readonly string[];
}

function aMux(sources: readonly PodSourceName[] = ['file']): Mux {
  const updates: PodUpdate[] = [];
  const events: PodEvent[] = [];
  const mux = new PodMux({
    sources,
    clock: {now: () => 0},
    events: (event) => void events.push(event),
    deliver: (update) => void updates.push(update),
  });
  const told = (): readonly string[] =>
    updates.splice(0).map(({op, source, pods}) => [source, op, ...pods.map(({uid}) => uid)].join(' '));
  return {mux, updates, events, told};
}

describe('updates', () => {
  test('of one set go out by operation, removals first', () => {
    const {mux, told} = aMux();
    mux.set('file', [wanted('gone'), wanted('changed'), wanted('ended'), wanted('seen')]);
    expect(told()).toEqual(['file ADD gone changed ended seen']);

    mux.set('file', [
      wanted('seen', {status: {phase: 'Running'}}),
      wanted('ended', {metadata: {deletionTimestamp: '2026-05-01T12:00:00Z'}}),
      wanted('changed', {spec: {hostname: 'h'}}),
      wanted('new'),
    ]);
    expect(told()).toEqual([
      'file REMOVE gone',
      'file ADD new',
      'file UPDATE changed',
      'file DELETE ended',
      'file RECONCILE seen',
    ]);
  });

  test('of a first set without pods are one ADD of none, so that the source is ready', () => {
    const {mux, told} = aMux();
    mux.set('file', []);
    expect(told()).toEqual(['file ADD']);
    mux.set('file', []);
    expect(told()).toEqual([]);
  });

  test('of one source leave the pods of another alone', () => {
    const {mux, told} = aMux(['file', 'http']);
    mux.set('file', [wanted('a')]);
    mux.set('http', [wanted('b')]);
    mux.set('file', []);
    expect(told()).toEqual(['file ADD a', 'http ADD b', 'file REMOVE a']);
  });

  test('say of a pod when it was first seen and where', () => {
    const {mux, updates} = aMux();
    mux.set('file', [wanted('a')]);
    expect(updates[0]?.pods[0]?.pod.metadata.annotations).toEqual({
      [SEEN]: '1970-01-01T00:00:00.000Z',
      [SOURCE]: 'file',
    });
  });
});

test('of two pods of one full name the first counts, and an event tells of the other', () => {
  const {mux, told, events} = aMux();
  const twin = (uid: string, namespace = 'default'): DesiredPod =>
    wanted(uid, {metadata: {name: 'web', namespace}});
  mux.set('file', [twin('a'), twin('b'), twin('c', 'other')]);
  expect(told()).toEqual(['file ADD a c']);
  expect(events).toMatchObject([
    {
      type: 'Warning',
      reason: 'FailedValidation',
      message: 'Error validating pod web_default(b) from file due to duplicate pod name "web", ignoring',
    },
  ]);
});

test('of two pods of one UID the first counts too', () => {
  const {mux, told, events} = aMux();
  mux.set('file', [wanted('a'), wanted('a', {metadata: {name: 'other'}})]);
  expect(told()).toEqual(['file ADD a']);
  expect(events.map(({message}) => message)).toEqual([
    'Error validating pod other_default(a) from file due to duplicate pod UID "a", ignoring',
  ]);
});

test('all sources are seen when each was set and its updates were handled', () => {
  const {mux} = aMux(['file', 'http']);
  const seen = (...handled: readonly PodSourceName[]): boolean => mux.seenAllSources(new Set(handled));
  expect(seen('file', 'http')).toBe(false);
  mux.set('file', [wanted('a')]);
  expect(seen('file', 'http')).toBe(false);
  mux.set('http', []);
  expect([seen('file', 'http'), seen('file'), seen()]).toEqual([true, false, false]);
});

/** What a listener knows that applies the updates. */
function apply(state: Map<string, DesiredPod>, {op, pods}: PodUpdate): void {
  for (const desired of pods) {
    const known = state.has(desired.uid);
    if (known === (op === 'ADD'))
      throw new Error(`${op} of ${desired.uid}, which was ${known ? '' : 'not '}known`);
    if (op === 'REMOVE') state.delete(desired.uid);
    else state.set(desired.uid, desired);
  }
}

test('whatever sets follow each other, who applies the updates has the last one', () => {
  const aWish = fc.record({
    uid: fc.constantFrom('a', 'b', 'c', 'd'),
    hostname: fc.constantFrom('x', 'y'),
    label: fc.constantFrom('1', '2'),
    phase: fc.constantFrom<PodPhase>('Pending', 'Running'),
    deleted: fc.boolean(),
  });
  const sets = fc.array(fc.uniqueArray(aWish, {selector: ({uid}) => uid}), {minLength: 1, maxLength: 8});
  fc.assert(
    fc.property(sets, (wishes) => {
      const {mux, updates} = aMux();
      const state = new Map<string, DesiredPod>();
      for (const set of wishes) {
        const pods = set.map(({uid, hostname, label, phase, deleted}) =>
          wanted(uid, {
            spec: {hostname},
            metadata: {labels: {label}, ...(deleted && {deletionTimestamp: '2026-05-01T12:00:00Z'})},
            status: {phase},
          }),
        );
        mux.set('file', pods);
        for (const update of updates.splice(0)) apply(state, update);
        const shown = [...state.values()].map(({pod}) => ({
          ...pod,
          metadata: {...pod.metadata, annotations: 0},
        }));
        const expected = pods.map(({pod}) => ({...pod, metadata: {...pod.metadata, annotations: 0}}));
        expect(byName(shown)).toEqual(byName(expected));
      }
    }),
  );
});

function byName<T extends {readonly metadata: {readonly name?: string}}>(pods: readonly T[]): readonly T[] {
  return pods.toSorted((a, b) => (a.metadata.name ?? '').localeCompare(b.metadata.name ?? ''));
}
