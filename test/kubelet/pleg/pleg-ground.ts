import {connect, type PodUid} from '../../../src/cri/index.js';
import type {Pleg, PodLifecycleEvent} from '../../../src/kubelet/container/pleg.js';
import {EventedPleg, type EventedPlegOptions} from '../../../src/kubelet/pleg/evented-pleg.js';
import {GenericPleg} from '../../../src/kubelet/pleg/generic-pleg.js';
import type {PlegNotice} from '../../../src/kubelet/pleg/pleg-notice.js';
import type {FakeRuntime} from '../../fakes/fake-runtime.js';
import {until} from '../../base/until.js';
import {ManualClock} from '../../streaming/manual-clock.js';

/** What a test may replace. */
export interface PlegSeed {
  readonly isOurs?: (uid: PodUid) => boolean;
  /** How many events there is room for. */
  readonly room?: () => number;
  readonly signal?: AbortSignal;
  /** In place of the fake runtime's events. */
  readonly getContainerEvents?: EventedPlegOptions['runtime']['getContainerEvents'];
}

/** A PLEG that looks after a fake runtime, on a clock that the test moves. */
export interface PlegGround<T extends Pleg> extends AsyncDisposable {
  readonly pleg: T;
  readonly clock: ManualClock;
  readonly events: PodLifecycleEvent[];
  readonly notices: PlegNotice[];
  /** How many relists there were that succeeded, or failed. */
  relists(outcome?: 'relisted' | 'relist-failed'): number;
  /** Lets the time pass until the next relist, which it gives the end of; how many seconds it took. */
  nextRelist(outcome?: 'relisted' | 'relist-failed'): Promise<number>;
}

export const startGeneric = (runtime: FakeRuntime, seed?: PlegSeed): Promise<PlegGround<GenericPleg>> =>
  start(runtime, (options) => new GenericPleg(options), seed);

export const startEvented = (runtime: FakeRuntime, seed?: PlegSeed): Promise<PlegGround<EventedPleg>> =>
  start(runtime, (options) => new EventedPleg(options), seed);

/** Runs it to the end of its first relist. */
async function start<T extends Pleg>(
  runtime: FakeRuntime,
  make: (options: EventedPlegOptions) => T,
  {isOurs = () => true, room = () => Infinity, signal, getContainerEvents}: PlegSeed = {},
): Promise<PlegGround<T>> {
  const connection = connect(runtime.endpoint);
  const stop = new AbortController();
  const clock = new ManualClock();
  const events: PodLifecycleEvent[] = [];
  const notices: PlegNotice[] = [];
  const pleg = make({
    runtime:
      getContainerEvents === undefined ? connection.runtime : {...connection.runtime, getContainerEvents},
    clock,
    isOurs,
    push: (event) => events.length < room() && events.push(event) > 0,
    notice: (notice) => notices.push(notice),
    signal: signal ?? stop.signal,
  });
  const ended = pleg.run();
  const relists = (outcome = 'relisted'): number => notices.filter(({kind}) => kind === outcome).length;
  const nextRelist = async (outcome?: 'relisted' | 'relist-failed'): Promise<number> => {
    const before = relists(outcome);
    let seconds = 0;
    await until(async () => {
      if (relists(outcome) === before && clock.sleeping > 0) {
        await clock.advance(1000);
        seconds += 1;
      }
      return relists(outcome) > before;
    });
    return seconds;
  };
  await until(() => relists() + relists('relist-failed') > 0);
  return {
    pleg,
    clock,
    events,
    notices,
    relists,
    nextRelist,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await ended;
      connection.close();
    },
  };
}

/** `TYPE ID` of each event. */
export const told = (events: readonly PodLifecycleEvent[]): string[] =>
  events.map(({type, id = ''}) => `${type} ${id}`.trim());
