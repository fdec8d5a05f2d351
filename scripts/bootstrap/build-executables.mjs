/** Builds the executables that vitest's project `binary` runs: kcri for this machine, and the test worker. Needs dist. */
import {HOST_TARGET} from '../binary/runtimes.mjs';
import {buildBinaries, buildTestWorker} from '../build-binary.mjs';

await buildBinaries([HOST_TARGET]);
await buildTestWorker();
