import type {ContainerResources} from '../contract/node-manager.js';

/** Returns resources with others in their place; entries of `unified` are added to those that there are. */
export function replaceResources(own: ContainerResources, others: ContainerResources): ContainerResources {
  const {unified} = others;
  return {...own, ...others, ...(unified && {unified: {...own.unified, ...unified}})};
}
