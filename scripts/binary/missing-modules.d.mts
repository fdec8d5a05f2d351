import type {Metafile} from 'esbuild';

export function missingModules(metafile: Pick<Metafile, 'outputs'>): readonly string[];
