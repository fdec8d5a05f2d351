import {expect, test} from 'vitest';
import {exitedIn, OwnExits} from '../../../src/recording/replay/own-exits.js';

const status = (startedMs: number, finishedMs: number, state = 'CONTAINER_EXITED') => ({
  state,
  startedAt: `${startedMs}000000`,
  finishedAt: `${finishedMs}000000`,
});

test('a container that ended before it was stopped has a run time', () => {
  const exits = new OwnExits();
  for (const id of ['own', 'stopped', 'late', 'never', 'runs']) exits.created(id, `pod-of-${id}`);
  exits.stopping('stopped', 2000);
  exits.stopping('pod-of-late', 2000);
  exits.stopping('own', 5000);
  for (const id of ['own', 'stopped', 'late']) exits.learn(id, status(1000, 3000));
  exits.learn('never', status(0, 3000));
  exits.learn('runs', status(1000, 0, 'CONTAINER_RUNNING'));
  const ids = ['own', 'stopped', 'late', 'never', 'runs'];
  expect(ids.map((id) => exits.ranMs(id))).toEqual([2000, undefined, undefined, undefined, undefined]);
  expect(ids.map((id) => exits.has(id))).toEqual([true, true, true, true, false]);
});

test('the exited containers of a list are found', () => {
  const containers = [
    {id: 'a', state: 'CONTAINER_EXITED'},
    {id: 'b', state: 'CONTAINER_RUNNING'},
  ];
  expect([{containers}, {items: []}, undefined].map(exitedIn)).toEqual([['a'], [], []]);
});
