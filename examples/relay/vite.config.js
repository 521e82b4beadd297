import babel from '@rolldown/plugin-babel';
import react from '@vitejs/plugin-react';

// Relay's plugin replaces each graphql`…` with what relay-compiler made of it.
export default { plugins: [react(), babel({ plugins: [['relay', { eagerEsModules: true }]] })] };
