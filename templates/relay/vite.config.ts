import babel from '@rolldown/plugin-babel';
import { defineConfig } from 'vite';

// Relay's plugin replaces each graphql`…` with what relay-compiler made of it.
export default defineConfig({ plugins: [babel({ plugins: [['relay', { eagerEsModules: true }]] })] });
