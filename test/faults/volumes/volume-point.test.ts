import {expect, test} from 'vitest';
import {AFTERMATHS, describeVolumePoint, parseVolumePoint, planVolumePoints} from './volume-point.js';

test('each planned point is found by its description', () => {
  const run = {steps: 3, methods: ['CreateVolume', 'NodeStageVolume', 'NodeStageVolume']};
  for (const aftermath of AFTERMATHS)
    for (const point of planVolumePoints(aftermath, run, (n) => n - 1))
      expect(parseVolumePoint(describeVolumePoint(point))).toEqual(point);
});

test.each(['kill before step x', 'NodeStageVolume 0 broken, reboot', 'reboot, kill before step 1'])(
  '"%s" is not a point',
  (description) => {
    expect(() => parseVolumePoint(description)).toThrow(`"${description}" is not a point`);
  },
);
