var e=(()=>{try{return localStorage.getItem("reprise.theme")}catch{return null}})();(e==="dark"||e==="light")&&(document.documentElement.dataset.theme=e);
