import {expect, test} from 'vitest';
import {SharedObjects} from '../../../src/recording/replay/shared-objects.js';

test('equal objects of lists are one object, and answers stay equal', () => {
  const objects = new SharedObjects();
  const answer = () => ({containers: [{id: 'a', state: 'CONTAINER_RUNNING'}], timestamp: '1'});
  const [first, second] = [objects.share(answer()), objects.share(answer())];
  expect(first).toEqual(answer());
  expect(second).toEqual(answer());
  expect((second['containers'] as readonly unknown[])[0]).toBe(
    (first['containers'] as readonly unknown[])[0],
  );
});

test.each([[{containers: 'none'}], [{items: [null, 5, {id: 'a'}]}], [{status: {id: 'a'}}], [{}]])(
  'the answer %j is unchanged',
  (answer) => {
    expect(new SharedObjects().share(answer)).toEqual(answer);
  },
);
