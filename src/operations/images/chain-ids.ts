import {createHash} from 'node:crypto';

/**
 * Returns the chain ID of each layer (OCI image specification): the name of the snapshot of this layer and all layers
 * below it.
 */
export function chainIds(diffIds: readonly string[]): readonly string[] {
  const chain: string[] = [];
  for (const diffId of diffIds) {
    const below = chain.at(-1);
    chain.push(below === undefined ? diffId : digestOf(`${below} ${diffId}`));
  }
  return chain;
}

function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
