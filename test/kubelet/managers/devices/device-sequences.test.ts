import {expect, test} from 'vitest';
import {readOracle} from '../../read-oracle.js';
import {DeviceSequence, type SequenceCase} from './device-sequence.js';

const CASES = readOracle(new URL('sequences.jsonl.gz', import.meta.url)) as readonly SequenceCase[];

test.each(CASES)('$id runs as in the kubelet', async ({config, steps, checkpointFile}) => {
  const sequence = new DeviceSequence(config);
  for (const step of steps) {
    const seen = await sequence.run(step);
    expect({op: step.op, ...seen}).toEqual({op: step.op, ...sequence.expected(step, seen)});
  }
  if (checkpointFile !== undefined) expect(sequence.checkpoint).toEqual(sequence.normalized(checkpointFile));
});
