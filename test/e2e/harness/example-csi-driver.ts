import {join} from 'node:path';
import {startExample, type ExampleProcess} from './example-process.js';

/** Name of the driver in `examples/csi-driver`. */
export const EXAMPLE_DRIVER = 'dirs.example.com';

/** The driver of `examples/csi-driver` in a process of its own. */
export interface ExampleCsiDriver extends ExampleProcess {
  /** Socket of its services. */
  readonly socket: string;
  /** Directory of the images of its volumes. */
  readonly dataDir: string;
}

/** Starts the driver for the kubelet of a root directory, with its data in `<rootDir>/csi-data`, and waits for its sockets. */
export async function startExampleCsiDriver(rootDir: string): Promise<ExampleCsiDriver> {
  const dataDir = join(rootDir, 'csi-data');
  const driver = await startExample('csi-driver/driver.ts', [rootDir, dataDir], `serving ${EXAMPLE_DRIVER}`);
  return {...driver, socket: join(rootDir, 'plugins', EXAMPLE_DRIVER, 'csi.sock'), dataDir};
}
