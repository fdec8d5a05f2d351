import {expect, test} from 'vitest';
import {HistoryWriter, MAX_ADDED} from '../../../../src/kubelet/pods/history/history-writer.js';
import type {Occurrence} from '../../../../src/kubelet/pods/history/recorded-event.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

/** A destination whose writes take a second each and are recorded. */
class SlowDestination {
  readonly clock = new FakeClock();
  readonly writes: string[] = [];
  readonly failures: unknown[] = [];
  isFull = false;
  readonly writer = new HistoryWriter<{readonly phase: string}>({
    add: async (occurrences) => {
      await this.#write(`add ${reasons(occurrences)}`);
      return true;
    },
    merge: async (occurrences) => this.#write(`merge ${reasons(occurrences)}`),
    writeStatus: async ({phase}) => this.#write(`status ${phase}`),
    onFailure: (error) => void this.failures.push(error),
  });

  async #write(what: string): Promise<void> {
    await this.clock.sleep(1000);
    this.writes.push(what);
    if (this.isFull) throw new Error('full');
  }

  happen(...names: readonly string[]): void {
    for (const reason of names) this.writer.event({at: 0, type: 'Normal', reason, message: ''});
  }

  /** Advances the clock until all writes have completed. */
  async end(): Promise<void> {
    for (let second = 0; second < 20; second += 1) await this.clock.advance(1000);
  }
}

function reasons(occurrences: readonly Occurrence[]): string {
  return occurrences.map(({reason}) => reason).join(' ');
}

test('updates that arrive during a write are written right after it, of several statuses only the last', async () => {
  const destination = new SlowDestination();
  destination.happen('a', 'b');
  await destination.clock.advance(500);
  destination.happen('c');
  destination.writer.status({phase: 'Pending'});
  destination.writer.status({phase: 'Running'});
  destination.happen('d');
  await destination.end();
  expect(destination.writes).toEqual(['merge a b', 'status Running', 'add c d']);
});

test('events are merged after MAX_ADDED events have been appended', async () => {
  const destination = new SlowDestination();
  for (const batch of [['first'], Array<string>(MAX_ADDED - 1).fill('x'), ['last'], ['over'], ['next']]) {
    destination.happen(...batch);
    await destination.end();
  }
  expect(destination.writes.map((write) => write.replaceAll(/ x\b/g, ''))).toEqual([
    'merge first',
    'add',
    'add last',
    'merge over',
    'add next',
  ]);
});

test('a failed write is merged with the next one, and is reported once until a write succeeds', async () => {
  const destination = new SlowDestination();
  destination.happen('a');
  await destination.end();
  destination.isFull = true;
  for (const name of ['b', 'c']) {
    destination.happen(name);
    destination.writer.status({phase: name});
    await destination.end();
  }
  expect(destination.failures).toHaveLength(1);
  destination.isFull = false;
  const settled = destination.writer.flush();
  await destination.end();
  await settled;
  expect(destination.writes.slice(-2)).toEqual(['merge b c', 'status c']);
  destination.isFull = true;
  destination.happen('d');
  await destination.end();
  expect(destination.failures).toHaveLength(2);
});

test('only the most recent events are retained while writes fail', async () => {
  const destination = new SlowDestination();
  destination.isFull = true;
  destination.happen('first');
  await destination.end();
  destination.happen(...Array<string>(100).fill('later'));
  await destination.end();
  destination.isFull = false;
  void destination.writer.flush();
  await destination.end();
  expect(destination.writes.at(-1)).toBe(`merge ${'later '.repeat(100).trim()}`);
});
