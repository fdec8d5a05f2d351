import {randomBytes} from 'node:crypto';
import {onTestFinished} from 'vitest';
import {removeCgroupRoot} from './pod-cgroups.js';

/** Returns a cgroup root for one test. It is removed after the test, which fails if pods are left. */
export function temporaryCgroupRoot(): string {
  const root = `/kcri-test-${randomBytes(4).toString('hex')}`;
  onTestFinished(() => {
    removeCgroupRoot(root);
  });
  return root;
}
