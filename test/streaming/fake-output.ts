import {PassThrough, type Writable} from 'node:stream';
import {pourStream, type RemoteOutput} from '../../src/streaming/remote-output.js';

/** A remote end's output; what is written to it comes. */
export class FakeOutput extends PassThrough implements RemoteOutput {
  async pour(target: Writable): Promise<void> {
    await pourStream(this, target);
  }
}
