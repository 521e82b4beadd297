/** Parts of the page that are loaded when they are first shown. */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

/** The component that a module exports under this name. */
export function later<Name extends string, Props>(
  load: () => Promise<Readonly<Record<Name, ComponentType<Props>>>>,
  name: Name,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => ({ default: (await load())[name] }));
}
